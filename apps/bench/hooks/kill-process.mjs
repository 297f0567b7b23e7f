// Preloaded into a run by `bench faults`: kills the process in a chosen phase, as `kill -9` does. Which
// phases it is in follows from the calls that its devices and its writer of checkpoints have not answered;
// a thread of its own watches them, since the main thread may be busy when the moment comes.
import fs from "node:fs";
import { isMainThread, MessagePort, Worker } from "node:worker_threads";

const plan = JSON.parse(process.env.BENCH_KILL ?? "null");
if (plan !== null && isMainThread) watch(plan);

/**
 * @param plan - `phases` that are told apart; `phase`, null for none; `entry`, when it is entered for which time at the earliest, from
 * 1; `delayMs`, how long after; `mark`, a file that tells in which phases the process was killed, or else
 * how often and how long it was in each.
 */
function watch({ phases, phase, entry, delayMs, mark }) {
  const phaseOf = {
    open: "opening",
    attach: "opening",
    step: "training",
    steps: "training",
    accumulate: "training",
    apply: "merging",
    blend: "merging",
    evaluate: "evaluating",
    copy: "writing",
    write: "writing",
  };
  const state = new Int32Array(new SharedArrayBuffer(8 * phases.length));
  const active = state.subarray(0, phases.length);
  const entered = state.subarray(phases.length);
  const milliseconds = phases.map(() => 0);
  const since = phases.map(() => 0);
  const outstanding = new Map();
  const watched = new WeakSet();

  function begin(name) {
    const i = phases.indexOf(name);
    if (Atomics.add(active, i, 1) === 0) since[i] = performance.now();
    Atomics.add(entered, i, 1);
    Atomics.notify(entered, i);
  }
  function end(name) {
    const i = phases.indexOf(name);
    if (Atomics.sub(active, i, 1) === 1) milliseconds[i] += performance.now() - since[i];
  }
  const isIn = (name) => active[phases.indexOf(name)] > 0;

  begin("loading");
  if (phase === "resuming") begin("resuming");

  const post = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function postMessage(message, ...others) {
    if (message?.type === "APPLY") called(this, message);
    return post.call(this, message, ...others);
  };

  function called(port, { id, path }) {
    const method = path.at(-1);
    if (isIn("loading")) end("loading");
    if (method === "close" && !isIn("finishing")) begin("finishing");
    const name = phaseOf[method];
    if (name === undefined) return;
    if (name === "training" && isIn("resuming")) end("resuming");
    outstanding.set(id, name);
    begin(name);
    if (watched.has(port)) return;
    watched.add(port);
    port.on("message", (answer) => {
      const answered = outstanding.get(answer?.id);
      if (answered === undefined) return;
      outstanding.delete(answer.id);
      end(answered);
    });
  }

  process.on("exit", () => {
    if (isIn("finishing")) end("finishing");
    const times = phases.map((name, i) => [name, { entered: entered[i], ms: milliseconds[i] }]);
    fs.writeFileSync(mark, JSON.stringify({ killed: null, phases: Object.fromEntries(times) }));
  });

  if (phase === null) return;
  const workerData = { state, phases, target: phases.indexOf(phase), entry, delayMs, mark };
  new Worker(`(${kill.toString()})(require("node:worker_threads").workerData)`, {
    eval: true,
    workerData,
  }).unref();
}

/** What the killing thread does. */
function kill({ state, phases, target, entry, delayMs, mark }) {
  const { writeFileSync } = require("node:fs");
  const active = state.subarray(0, phases.length);
  const entered = state.subarray(phases.length);
  const never = new Int32Array(new SharedArrayBuffer(4));
  let wanted = entry;
  let wait = delayMs;
  for (;;) {
    const until = Atomics.load(entered, target);
    if (until < wanted) {
      Atomics.wait(entered, target, until);
      continue;
    }
    Atomics.wait(never, 0, 0, wait);
    if (Atomics.load(active, target) > 0) {
      const killed = phases.filter((_, i) => Atomics.load(active, i) > 0);
      writeFileSync(mark, JSON.stringify({ killed }));
      process.kill(process.pid, "SIGKILL");
      Atomics.wait(never, 0, 0);
    }
    // The phase was over before: the next time it is in it, sooner.
    wanted = Atomics.load(entered, target) + 1;
    wait /= 2;
  }
}
