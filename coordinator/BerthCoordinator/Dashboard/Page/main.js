// Signs in, follows the changes, and fetches again what they touch.

import { ChangeStream, Unauthorized, get } from "./api.js";
import { h, shape, update } from "./dom.js";
import { clock } from "./format.js";
import { gate, ledger, results, slots, summary } from "./sections.js";

const TOKEN = "berth-token";
// Changes that come within this time are answered by one look, in milliseconds.
const THROTTLE = 400;
// Ages are written anew this often, in milliseconds.
const TICK = 5_000;
const AGAIN = 5_000;

const PARTS = {
  status: "status",
  open: "runs?state=open",
  finished: "runs?state=finished&last=15",
  simulator: "ledgers/simulator?last=5",
  hardware: "ledgers/hardware?last=5",
  verdicts: "verdicts",
  builds: "builds",
};
const TOUCHED = {
  batch: ["status", "open", "verdicts"],
  run: ["status", "open", "finished"],
  slot: ["status", "open"],
  host: ["status"],
  ledger: ["finished", "verdicts", "simulator", "hardware", "status"],
};

const find = (id) => document.getElementById(id);
let session = null;

class Session {
  #token;
  #stream;
  #state = {};
  #stale = new Set();
  #timer = null;
  #fetching = false;
  #ticker;
  #ended = false;

  constructor(token) {
    this.#token = token;
    this.#stream = new ChangeStream(token, {
      connected: () => showConnection("live"),
      everything: () => this.#touch(Object.keys(PARTS)),
      changed: (topic) => this.#touch(TOUCHED[topic] ?? Object.keys(PARTS)),
      lost: (seconds) => showConnection("lost", seconds),
      refused: (message) => signOut(message),
    });
    this.#ticker = setInterval(() => this.#draw(), TICK);
    this.#stream.run();
  }

  end() {
    this.#ended = true;
    this.#stream.stop();
    clearInterval(this.#ticker);
    clearTimeout(this.#timer);
  }

  hurry() {
    this.#stream.hurry();
  }

  #touch(parts) {
    for (const part of parts) this.#stale.add(part);
    if (!this.#fetching) this.#timer ??= setTimeout(() => this.#look(), this.#state.status ? THROTTLE : 0);
  }

  async #look() {
    this.#timer = null;
    this.#fetching = true;
    const parts = [...this.#stale];
    this.#stale.clear();
    let problem = null;
    try {
      const answers = await Promise.all(parts.map((part) => get(PARTS[part], this.#token)));
      parts.forEach((part, index) => { this.#state[part] = answers[index]; });
      this.#state.at = Date.now();
    } catch (error) {
      problem = error;
    }
    this.#fetching = false;
    if (this.#ended) return;
    if (problem instanceof Unauthorized) return signOut(problem.message);
    if (problem) {
      for (const part of parts) this.#stale.add(part);
      showConnection("failing", problem.message);
      this.#timer ??= setTimeout(() => this.#look(), AGAIN);
      return;
    }
    if (connection === "failing") showConnection("live");
    this.#nameBuilds();
    this.#draw();
    if (this.#stale.size) this.#touch([]);
  }

  /** A build that was archived since is named as soon as something speaks of it. */
  #nameBuilds() {
    const { builds, simulator, hardware } = this.#state;
    if (!builds) return;
    const known = new Set(builds.map((build) => build.id));
    const named = [simulator, hardware].flatMap((one) => one?.entries ?? []).flatMap((entry) => entry.pins.path);
    if (named.some((id) => !known.has(id)) && !this.#stale.has("builds")) this.#touch(["builds"]);
  }

  #draw() {
    const state = this.#state;
    if (!state.at) return;
    find("board").hidden = false;
    find("coordinator").textContent = `${state.status.coordinator}, version ${state.status.version}`;
    const names = new Map(state.builds.map((build) => [build.id, build.description.name]));
    update(find("summary"), summary(state));
    fill("slots", slots(state));
    fill("gate", gate(state.verdicts));
    fill("results", results(state.finished));
    fill("simulator", ledger(state.simulator, "simulator", names));
    fill("hardware", ledger(state.hardware, "hardware", names));
    find("connection-time").textContent = `Updated ${clock(state.at)}`;
  }
}

function fill(id, { note, body }) {
  find(`${id}-note`).textContent = note;
  update(find(`${id}-body`), body);
}

// Connection

let connection = null;

function showConnection(state, detail) {
  connection = state;
  const words = {
    live: [shape("good"), "Live"],
    connecting: [shape("open"), "Connecting"],
    lost: [shape("bad"), `Connection lost, trying again in ${detail} s`],
    failing: [shape("bad"), `Not up to date: ${detail}`],
  };
  find("connection").hidden = false;
  find("connection").dataset.state = state;
  update(find("connection-state"), h("span", { class: "label" }, words[state]));
  document.title = state === "live" || state === "connecting" ? "Berth" : "Berth (not connected)";
}

// Signing in and out

function signIn(token) {
  sessionStorage.setItem(TOKEN, token);
  find("sign-in").hidden = true;
  find("sign-in-problem").textContent = "";
  find("token").value = "";
  showConnection("connecting");
  session = new Session(token);
}

function signOut(problem) {
  session?.end();
  session = null;
  sessionStorage.removeItem(TOKEN);
  find("connection").hidden = true;
  find("board").hidden = true;
  find("coordinator").textContent = "";
  for (const id of ["summary", "slots-body", "gate-body", "results-body", "simulator-body", "hardware-body"]) {
    find(id).replaceChildren();
  }
  find("sign-in").hidden = false;
  find("sign-in-problem").textContent = problem ? `Not signed in: ${problem}.` : "";
  find("token").focus();
}

find("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  const token = find("token").value.trim();
  // A header carries visible ASCII only; what else was pasted cannot be a token.
  if (/^[\x21-\x7e]+$/.test(token)) signIn(token);
  else find("sign-in-problem").textContent = "A token has no blanks and no letters outside ASCII.";
});
find("sign-out").addEventListener("click", () => signOut());
addEventListener("online", () => session?.hurry());
document.addEventListener("visibilitychange", () => { if (!document.hidden) session?.hurry(); });

const known = sessionStorage.getItem(TOKEN);
if (known) signIn(known);
else signOut();
