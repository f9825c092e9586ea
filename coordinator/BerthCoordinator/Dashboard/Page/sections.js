// What the sections of the page show, as elements made of the API's answers.

import { h, shape } from "./dom.js";
import { ago, byName, capital, count, path, shortDigest, since } from "./format.js";

const SHAPES = {
  passed: "good", pass: "good", satisfied: "good", held: "good",
  failed: "bad", blocked: "bad", broken: "bad",
  flaky: "mixed", mixed: "mixed",
  unproven: "missing", incomplete: "missing", errored: "missing", void: "missing", lost: "missing",
  undecided: "open", missing: "open", queued: "open", idle: "open",
  busy: "busy",
  offline: "off", cancelled: "off", expired: "off",
};
const TONES = { good: "good", bad: "bad", mixed: "warn", missing: "warn", busy: "busy" };

/** A state as shape and word. */
function label(state, name = SHAPES[state] ?? "open") {
  return h("span", { class: "label", "data-tone": TONES[name] }, shape(name), capital(state));
}

/** What to do when there is nothing yet. */
function empty(text, command) {
  return h("div", { class: "empty" }, h("p", {}, text), command && h("p", {}, h("code", {}, command)));
}

// Summary

export function summary({ status, simulator, hardware }) {
  const all = status.hosts.flatMap((host) => host.slots);
  const busy = all.filter((slot) => slot.state === "busy").length;
  const offline = all.filter((slot) => slot.state === "offline").length;
  const held = all.filter((slot) => slot.state === "held" && !slot.services).length;
  const unused = all.filter((slot) => slot.services).length;
  const wait = status.oldestQueuedAt ? `oldest waits ${since(status.oldestQueuedAt)}` : "nothing waits";
  return [
    fact("Slots busy", `${busy} of ${all.length}`, (offline ? `${offline} offline` : "none offline") + (held ? `, ${held} held` : "") + (unused ? `, ${unused} out of use` : "")),
    fact("Queue", count(status.queued, "run"), wait),
    fact("Simulator ledger", count(simulator.head.length, "entry", "entries"), newest(simulator)),
    fact("Hardware ledger", count(hardware.head.length, "entry", "entries"), newest(hardware)),
  ];
}

function fact(name, value, detail) {
  return h("div", {}, h("dt", {}, name), h("dd", { class: "value" }, value), h("dd", { class: "muted" }, detail));
}

function newest(ledger) {
  const entry = ledger.entries.at(-1);
  return entry ? ["last one ", ago(entry.recordedAt)] : "empty";
}

// Slots

export function slots({ status, open }) {
  if (!status.hosts.length) {
    return { note: "", body: empty("No host is enrolled. Add one that runs agents:", "berth host add NAME --address HOST") };
  }
  const byAttempt = new Map();
  for (const run of open) for (const attempt of run.attempts) byAttempt.set(attempt.id, { run, attempt });
  const hosts = [...status.hosts].sort((one, other) => byName(one.host.name, other.host.name));
  return {
    note: count(hosts.length, "host"),
    body: hosts.map((host) => h("div", { class: "host", "data-key": host.host.name },
      h("h3", {}, host.host.name, " ", hostState(host)),
      host.problem && h("p", { class: "problem" }, host.problem),
      host.slots.length
        ? h("ul", { class: "rows" },
          [...host.slots].sort((one, other) => byName(one.name, other.name))
            .map((slot) => slotRow(slot, byAttempt.get(slot.attempt))))
        : empty("No agent of this host has joined. Start one on it:", "berth-agent serve --slot NAME"),
    )),
  };
}

function hostState(host) {
  if (host.state === "connected") return null;
  const failing = host.state === "failing";
  return h("span", { class: "label", "data-tone": failing ? "bad" : null },
    shape(failing ? "bad" : "open"), failing ? "Not connected" : "Connecting");
}

function slotRow(slot, work) {
  const device = slot.device;
  return h("li", { class: "slot", "data-key": slot.name, "data-state": slot.state },
    h("div", { class: "slot-name" }, h("strong", {}, slot.name), label(condition(slot), slot.state === "held" ? "missing" : undefined)),
    h("div", { class: "slot-work" },
      work && slot.state !== "idle"
        ? [
          ...outOfUse(slot),
          h("div", {}, h("span", { class: "case" }, work.run.pins.caseName), " ", path(work.run.buildNames, work.run.pins.path)),
          step(slot, work.attempt),
        ]
        : [
          ...idleness(slot),
          h("div", { class: "muted device" }, device.model, ", ", device.os.version, ", ", device.platform,
            slot.kept ? `, ${count(slot.kept, "device")} kept` : ""),
        ]),
  );
}

/** A slot's state; what takes it out of use counts more than that it idles. */
function condition(slot) {
  return slot.state === "held" && slot.services ? slot.services[0].state : slot.state;
}

/** Who took a slot out of use, or reserved it, and why. */
function outOfUse(slot) {
  return [
    ...(slot.services ?? []).map((service) => h("div", { class: "problem" },
      `${service.kind === "farm" ? "The farm" : `${service.kind} ${service.name}`}: ${service.state} by ${service.actor}, ${since(service.since)} ago: ${service.reason}`)),
    ...(slot.reservations ?? []).map((one) => h("div", { class: "muted" },
      `Reserved for ${one.batch ? `batch ${one.batch}` : `runs with label ${one.label}`} by ${one.actor}: ${one.reason}`)),
  ];
}

/** Why a slot works on nothing. */
function idleness(slot) {
  const facts = outOfUse(slot);
  if (slot.state === "held") {
    // The reason of a slot that is out of use says the same once more.
    const isSaid = slot.services && slot.reason?.code === slot.services[0].state;
    return isSaid ? facts : [...facts, h("div", { class: "problem" }, slot.reason?.message ?? "It takes no run")];
  }
  return [...facts, h("div", { class: "muted" }, slot.state === "offline" ? "Its agent is not connected" : "Waits for a run")];
}

const PREPARATION = { transfer: "sending the builds to the host", assign: "handing over to the agent" };

function step(slot, attempt) {
  if (slot.state === "offline") return h("div", { class: "step muted" }, "not heard from; its lease runs out");
  const text = attempt.progress ?? "starting";
  const [, title, done, all] = /^(.*) \((\d+)\/(\d+)\)$/.exec(text) ?? [null, PREPARATION[text] ?? text, 0, 1];
  const counted = Number(all) > 1;
  return h("div", { class: "step" },
    h("span", { class: "step-title" }, title),
    h("progress", { max: all, value: done, "aria-label": `Step of ${slot.name}` }),
    h("span", { class: "step-count" }, counted ? `${done}/${all}` : ""));
}

// Gate

export function gate(verdicts) {
  if (!verdicts.length) {
    return {
      note: "",
      body: empty("No path of builds was submitted yet. Submit one:", "berth submit --old BUILD --new BUILD --case update --platform linux-simulated"),
    };
  }
  return {
    note: count(verdicts.length, "path"),
    body: verdicts.map((verdict) => h("div", { class: "gate-path", "data-key": verdict.path.join() },
      h("h3", {}, path(verdict.buildNames, verdict.path)),
      verdict.reports.map((report) => policy(report)))),
  };
}

function policy(report) {
  return h("details", { class: "policy", "data-key": report.policy },
    h("summary", {},
      label(report.verdict),
      h("span", { class: "policy-name" }, report.policy),
      h("span", { class: "muted" }, tally(report.findings))),
    platforms(report.findings).map(([platform, findings]) => [
      h("h4", {}, platform),
      h("ul", { class: "findings" }, alike(findings).map(({ state, reason, cases }) => h("li", {},
        label(state),
        h("span", {}, h("span", { class: "case" }, cases.join(", ")), " ", h("span", { class: "muted" }, reason))))),
    ]).flat());
}

function tally(findings) {
  return ["broken", "flaky", "missing", "satisfied"]
    .map((state) => [findings.filter((finding) => finding.state === state).length, state])
    .filter(([number]) => number).map((pair) => pair.join(" ")).join(", ");
}

/** Findings of one state and reason as one, since a new path lacks every case for the same reason. */
function alike(findings) {
  const groups = new Map();
  for (const { state, reason, caseName } of findings) {
    const key = `${state} ${reason}`;
    if (!groups.has(key)) groups.set(key, { state, reason, cases: [] });
    groups.get(key).cases.push(caseName);
  }
  return [...groups.values()];
}

function platforms(findings) {
  const groups = new Map();
  for (const finding of findings) groups.set(finding.platform, [...(groups.get(finding.platform) ?? []), finding]);
  return [...groups];
}

// Results

export function results(runs) {
  if (!runs.length) {
    return { note: "", body: empty("No run has a verdict yet. The next one appears here as soon as it has.", "berth status") };
  }
  return {
    note: `the last ${runs.length}`,
    body: h("ol", { class: "rows results" }, runs.map((run) => h("li", { "data-key": run.id },
      h("div", { class: "result-verdict" }, label(run.verdict)),
      h("div", { class: "result-what" }, h("span", { class: "case" }, run.pins.caseName), " ", path(run.buildNames, run.pins.path)),
      h("div", { class: "result-when muted" }, ago(run.finishedAt)),
      h("div", { class: "result-reason" }, reason(run)),
      h("div", { class: "result-where muted" }, [run.id, run.attempts.at(-1)?.slot, run.pins.platform].filter(Boolean).join(", "))))),
  };
}

function reason(run) {
  const deciding = [...run.attempts].reverse()
    .find((attempt) => attempt.outcome === run.verdict) ?? run.attempts.at(-1);
  if (!deciding) return "no attempt was made";
  const broken = deciding.checks.filter((check) => check.state === "broken");
  if (broken.length) {
    return broken.map((check) => h("div", {}, h("span", { class: "rule" }, check.id), " ", check.reason ?? "broken"));
  }
  if (deciding.cause) return `${deciding.cause.code}: ${deciding.cause.message}`;
  const held = deciding.checks.filter((check) => check.state === "held").map((check) => check.id);
  return held.length ? ["held: ", h("span", { class: "rule" }, held.join(", "))] : "no check was decided";
}

// Ledgers

export function ledger({ head, entries }, kind, names) {
  if (!head.length) {
    return {
      note: "no entries",
      body: empty(kind === "hardware"
        ? "Results of physical devices stand here. No attempt on one has ended yet; enrol a host that carries one."
        : "Results of simulated devices stand here. No attempt on one has ended yet; submit a batch."),
    };
  }
  return {
    note: count(head.length, "entry", "entries"),
    body: [
      h("p", { class: "head" }, "Head ", h("code", { title: head.head }, shortDigest(head.head))),
      h("ol", { class: "rows entries" }, [...entries].reverse().map((entry) => h("li", { "data-key": String(entry.sequence) },
        h("span", { class: "sequence" }, `#${entry.sequence}`),
        label(entry.outcome),
        h("span", { class: "entry-what" },
          h("span", { class: "case" }, entry.pins.caseName), " ",
          path(entry.pins.path.map((id) => names.get(id) ?? shortDigest(id)), entry.pins.path)),
        h("span", { class: "muted" }, ago(entry.recordedAt))))),
    ],
  };
}
