// The coordinator's API (docs/api.md): requests and the event stream, both with the token in a header.

import { noteServerTime } from "./format.js";

// The stream carries at least a comment every ten seconds; a silence of this length is a lost connection.
const SILENCE = 25_000;
const PAUSES = [1, 2, 4, 8, 15];

/** The coordinator does not take the token. */
export class Unauthorized extends Error {}

async function open(url, token, options) {
  const response = await fetch(url, {
    ...options,
    headers: { Authorization: `Bearer ${token}`, ...options?.headers },
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
  });
  noteServerTime(response.headers.get("Date"));
  if (response.status === 401) throw new Unauthorized((await response.json()).error.message);
  if (!response.ok) throw new Error((await response.json()).error.message);
  return response;
}

export async function get(path, token) {
  const response = await open(`/v1/${path}`, token, { signal: AbortSignal.timeout(20_000) });
  return response.json();
}

/** Follows the changes and connects again when the connection is lost, until `stop` is called.
 *  `listener` has `connected()`, `changed(topic, name)`, `everything()`, `lost(secondsToNextTry)`, `refused(message)`. */
export class ChangeStream {
  #token;
  #listener;
  #lastID = null;
  #failures = 0;
  #abort = null;
  #stopped = false;
  #wake = null;

  constructor(token, listener) {
    this.#token = token;
    this.#listener = listener;
  }

  async run() {
    while (!this.#stopped) {
      try {
        await this.#follow();
      } catch (error) {
        if (this.#stopped) return;
        if (error instanceof Unauthorized) return this.#listener.refused(error.message);
      }
      if (this.#stopped) return;
      const pause = PAUSES[Math.min(this.#failures, PAUSES.length - 1)];
      this.#failures += 1;
      this.#listener.lost(pause);
      await new Promise((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, pause * 1000);
      });
    }
  }

  /** Tries at once instead of waiting. */
  hurry() {
    this.#wake?.();
  }

  stop() {
    this.#stopped = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  async #follow() {
    this.#abort = new AbortController();
    let watchdog;
    const heard = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => this.#abort.abort(), SILENCE);
    };
    heard();
    try {
      const headers = this.#lastID ? { "Last-Event-ID": this.#lastID } : {};
      const response = await open("/v1/events", this.#token, { headers, signal: this.#abort.signal });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        heard();
        text += value;
        const events = text.split("\n\n");
        text = events.pop();
        for (const event of events) this.#take(event);
      }
    } finally {
      clearTimeout(watchdog);
      this.#abort.abort();
    }
  }

  #take(text) {
    const fields = {};
    for (const line of text.split("\n")) {
      const colon = line.indexOf(": ");
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
    }
    const isFirst = this.#lastID === null;
    if (fields.id) this.#lastID = fields.id;
    switch (fields.event) {
      case "ready":
        this.#failures = 0;
        this.#listener.connected();
        // What was missed comes as changes; only the very first look is at everything.
        if (isFirst) this.#listener.everything();
        break;
      case "resync":
        this.#failures = 0;
        this.#listener.connected();
        this.#listener.everything();
        break;
      case "change": {
        const { topic, name } = JSON.parse(fields.data);
        this.#listener.changed(topic, name);
        break;
      }
    }
  }
}
