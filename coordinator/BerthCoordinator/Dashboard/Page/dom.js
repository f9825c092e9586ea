// Making and updating elements. Everything that comes from the coordinator becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; strings become text, null and false are left out. */
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** One of the shapes of index.html; the word beside it says the same. */
export function shape(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "shape");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#shape-${name}`);
  svg.append(use);
  return svg;
}

/** Makes the children of `parent` look like `wanted` and changes only what differs: focus, selection, scroll position
 *  and opened details stay. Children with a `data-key` keep their identity when others come or go. */
export function update(parent, ...wanted) {
  const byKey = new Map();
  for (const child of parent.childNodes) {
    if (child.dataset?.key) byKey.set(child.dataset.key, child);
  }
  let place = parent.firstChild;
  for (const node of wanted.flat().filter(Boolean)) {
    const next = typeof node === "string" ? document.createTextNode(node) : node;
    const key = next.dataset?.key;
    let present = key ? byKey.get(key) : place;
    if (!key && present?.dataset?.key) present = null;
    if (!present || !merge(present, next)) {
      parent.insertBefore(next, place);
      continue;
    }
    if (present === place) place = place.nextSibling;
    else parent.insertBefore(present, place);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/** Brings a node up to date; false if another kind of node is needed. */
function merge(present, next) {
  if (present.nodeName !== next.nodeName) return false;
  if (present.nodeType === Node.TEXT_NODE) {
    if (present.data !== next.data) present.data = next.data;
    return true;
  }
  for (const name of present.getAttributeNames()) {
    // Whether details are open is the reader's choice.
    if (!next.hasAttribute(name) && name !== "open") present.removeAttribute(name);
  }
  for (const name of next.getAttributeNames()) {
    const value = next.getAttribute(name);
    if (present.getAttribute(name) !== value) present.setAttribute(name, value);
  }
  update(present, ...next.childNodes);
  return true;
}
