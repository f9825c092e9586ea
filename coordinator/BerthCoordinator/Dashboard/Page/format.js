// How times, digests and names are written.

import { h } from "./dom.js";

// The coordinator's clock minus this machine's, in milliseconds: ages are those of the coordinator.
let skew = 0;

export function noteServerTime(header) {
  const server = Date.parse(header ?? "");
  // The header counts whole seconds, so smaller differences mean nothing.
  if (!Number.isNaN(server)) skew = Math.abs(server - Date.now()) < 2000 ? 0 : server - Date.now();
}

export function clock(milliseconds) {
  return new Date(milliseconds).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

export function since(milliseconds) {
  return duration(Date.now() + skew - milliseconds);
}

/** How long ago something was, with the exact time for who points at it. */
export function ago(milliseconds) {
  const exact = new Date(milliseconds);
  const young = Date.now() + skew - milliseconds < 10_000;
  return h("time", { datetime: exact.toISOString(), title: exact.toLocaleString() }, young ? "just now" : `${since(milliseconds)} ago`);
}

export function count(number, one, many) {
  return `${number} ${number === 1 ? one : many ?? `${one}s`}`;
}

export function shortDigest(digest) {
  return digest.replace("sha256:", "").slice(0, 12);
}

/** Names of builds in their order. */
export function path(names, ids) {
  return h("span", { class: "path", title: ids?.join("\n") },
    names.flatMap((name, index) => index ? [h("span", { class: "arrow" }, " → "), name] : [name]));
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Names with numbers in them in the order that people expect. */
export const byName = new Intl.Collator("en", { numeric: true }).compare;
