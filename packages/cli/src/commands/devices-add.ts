import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  formatDevice,
  isReachable,
  parseDevices,
  replacementFolder,
  runFiles,
  runOwner,
  type DeviceSpec,
  type RunOwner,
} from "@heterosgd/trainer";
import { fileLayer, resolveOptions } from "../config/resolve.js";
import { trainSchema } from "../config/schema.js";
import {
  changeDeviceList,
  parseDeviceList,
  readDeviceList,
  writeDeviceList,
} from "../device-list.js";
import { CliError, exitCodes, type ExitCode } from "../errors.js";
import { commandWords, quoted } from "../invocation.js";
import { counted } from "../output/format.js";
import type { Output } from "../output/output.js";
import { devicesFor } from "../plan.js";
import { startOf } from "../run-start.js";

/** How long the run may take to open the devices. */
const WAIT_MS = 60_000;
const LOOK_MS = 100;

interface Joined {
  readonly device: number;
  readonly name: string;
  readonly spec: string;
}

interface Failed {
  readonly spec: string;
  readonly reason: string;
}

interface Outcome {
  readonly joined: readonly Joined[];
  readonly failed: readonly Failed[];
}

const ENDED = "has ended meanwhile";

/** `heterosgd devices add RUN SPEC…` */
export async function devicesAddCommand(
  run: string,
  specs: readonly string[],
  output: Output,
): Promise<ExitCode> {
  const added = parseDevices(specs.join(","));
  await requireRun(run);
  const owner = await requireAlive(run);
  const folder = owner.replaces ? join(run, replacementFolder) : run;
  const begun = await startOf(folder);
  if (begun?.isSimulated === true) {
    throw new CliError("CONFLICT", `the run in ${run} is simulated: its devices are made up`, {
      hint: "name them for simulate, as in --devices gpu,gpu:joins=30",
    });
  }
  // Before that it takes a SIGHUP for the end of its terminal.
  if (!owner.listens) {
    throw new CliError("RUN_NOT_ALIVE", `the run in ${run} has not begun to train yet`, {
      hint: "try again in a moment",
    });
  }
  const { joined, failed } = await add(run, folder, owner, added, output).catch(
    (error: unknown) => {
      // What replaces an earlier run is moved at its end.
      const { code = "" } = error as NodeJS.ErrnoException;
      throw ["ENOENT", "ESRCH"].includes(code) ? notAlive(run, ENDED) : error;
    },
  );
  output.document({ run, joined, failed });
  if (failed.length === 0) return exitCodes.done;
  const reasons = failed.map(({ spec, reason }) => `${spec}: ${reason}`).join("; ");
  throw new CliError(
    "DEVICE_NOT_ADDED",
    `${failed.length} of ${counted(added.length, "device")} could not be added, the run goes on without: ${reasons}`,
  );
}

async function add(
  run: string,
  folder: string,
  owner: RunOwner,
  added: readonly DeviceSpec[],
  output: Output,
): Promise<Outcome> {
  const events = join(folder, runFiles.events);
  const from = (await stat(events)).size;
  await changeDeviceList(folder, async () =>
    writeDeviceList(folder, [...(await listOf(folder)), ...added]),
  );
  // Where there are no signals, the run looks by itself.
  if (process.platform !== "win32") process.kill(owner.pid, "SIGHUP");
  output.say(`the run in ${run} was told of ${counted(added.length, "device")}; waiting for it`);
  return outcomeOf(run, events, from, added, output);
}

async function requireRun(run: string): Promise<void> {
  const isThere = await stat(join(run, runFiles.config)).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  throw new CliError("NOT_A_RUN", `${run} is no folder of a run: it has no ${runFiles.config}`, {
    hint: "devices add RUN SPEC…, such as devices add runs/first cpu@0.5",
  });
}

async function requireAlive(run: string): Promise<RunOwner> {
  const owner = await runOwner(run);
  if (owner === null) throw notAlive(run, "is not under way");
  if (await isReachable(owner)) return owner;
  throw new CliError("CONFLICT", `the run in ${run} is under way on ${owner.host}, not here`, {
    hint: "add devices there",
  });
}

function notAlive(run: string, what: string): CliError {
  return new CliError("RUN_NOT_ALIVE", `the run in ${run} ${what}`, {
    hint: `${commandWords(["train", "--resume", quoted(run)])} --devices LIST goes on with other devices`,
  });
}

/** What the run has been given until now. */
async function listOf(folder: string): Promise<readonly DeviceSpec[]> {
  const text = readDeviceList(folder);
  if (text !== null) return parseDeviceList(text, folder);
  const layer = await fileLayer(trainSchema, join(folder, runFiles.config));
  return devicesFor(resolveOptions(trainSchema, [layer]).devices);
}

/** Follows the run's events until it has said of each device what has become of it. */
async function outcomeOf(
  run: string,
  events: string,
  from: number,
  added: readonly DeviceSpec[],
  output: Output,
): Promise<Outcome> {
  const left = added.map(formatDevice);
  const joined: Joined[] = [];
  const failed: Failed[] = [];
  let at = from;
  for (let waited = 0; left.length > 0; waited += LOOK_MS) {
    const { lines, end } = await linesFrom(events, at);
    at = end;
    for (const line of lines) {
      const event = Object(JSON.parse(line)) as Record<string, unknown>;
      if (event["type"] === "end") throw notAlive(run, ENDED);
      const place = left.indexOf(String(event["spec"]));
      if (place < 0) continue;
      const spec = left[place]!;
      if (event["type"] === "joined" && event["replaces"] === null) {
        const device = Number((event["device"] as { readonly id: unknown }).id);
        const name = String(event["name"]);
        joined.push({ device, name, spec });
        output.print(`${name} has joined`);
      } else if (event["type"] === "add-failed") {
        failed.push({ spec, reason: String(event["reason"]) });
      } else continue;
      left.splice(place, 1);
    }
    if (left.length === 0) break;
    if (waited % 1000 === 0 && (await runOwner(run)) === null) {
      throw notAlive(run, ENDED);
    }
    if (waited >= WAIT_MS) throw noAnswer(run, left);
    await sleep(LOOK_MS);
  }
  return { joined, failed };
}

function noAnswer(run: string, left: readonly string[]): CliError {
  return new CliError(
    "NO_ANSWER",
    `the run in ${run} was told, but has not said within ${WAIT_MS / 1000} s what has become of ${left.join(", ")}`,
    { hint: `${runFiles.log} there will say` },
  );
}

/** The whole lines of a file from a byte on, and where they end. */
async function linesFrom(
  path: string,
  from: number,
): Promise<{ readonly lines: readonly string[]; readonly end: number }> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.max(0, size - from));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
    const whole = bytes.subarray(0, bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1);
    const lines = whole
      .toString("utf8")
      .split("\n")
      .filter((line) => line !== "");
    return { lines, end: from + whole.length };
  } finally {
    await file.close();
  }
}
