/** What the simulator knows of devices: how long they take, as small JSON documents. */
import type { DeviceRole } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";

/** A way over which models pass: one takes `latency` s and a second for each `bandwidth` bytes. */
export interface Link {
  readonly latency: number;
  readonly bandwidth: number;
}

/**
 * A kind of device. A batch takes `fixed + perUpdate + perRow · rows + perNonZero · non-zeros`
 * seconds; where its threads make updates of their own, without locks, `fixed + perUpdate` once for
 * as many updates as there are threads.
 */
export interface KindProfile {
  readonly fixed: number;
  /**
   * What an update takes however few rows it is of, such as reading and writing the output layer in
   * memory. Default: 0.
   */
  readonly perUpdate?: number;
  readonly perRow: number;
  readonly perNonZero: number;
  /** Each time is multiplied by a random factor from 1 − jitter to 1 + jitter. Default: 0. */
  readonly jitter?: number;
  /** What policies are told of it. Default: 1, "host", no limit. */
  readonly threads?: number;
  readonly role?: DeviceRole;
  readonly maxBatchRows?: number;
  /** Its own way to shared models. Default: the profile's. */
  readonly link?: Link;
}

/** Speeds from so many seconds on, ascending, the first from 0. */
export type SpeedPlan = readonly (readonly [from: number, speed: number])[];

export interface ProfileDevice {
  readonly kind: string;
  /** What its kind's speed is multiplied by, or that over time. Default: 1. */
  readonly speed?: number | SpeedPlan;
  readonly threads?: number;
  readonly role?: DeviceRole;
  /** Seconds at which it joins the run, or leaves it. Default: there from the start to the end. */
  readonly joins?: number;
  readonly leaves?: number;
}

/** The network that a profile's times are of. */
export interface ProfileNetwork {
  readonly hidden: readonly number[];
  readonly labels: number;
}

export interface Profile {
  readonly name: string;
  readonly description: string;
  /** Whether its numbers were measured; else they are assumptions. */
  readonly measured: boolean;
  /**
   * For another network `perRow` and `perUpdate` grow with the products in dense layers, `perNonZero` with the first
   * layer's width, and `fixed` stays, which is a model and no measurement. Left out: times are taken
   * as they are.
   */
  readonly network?: ProfileNetwork;
  readonly link: Link;
  readonly kinds: Readonly<Record<string, KindProfile>>;
  /** What a run has where no devices are named. */
  readonly devices: readonly ProfileDevice[];
}

/** More than any machine has. */
export const MOST_SIMULATED_DEVICES = 1024;
const MOST_KINDS = 100;
const MOST_LAYERS = 1000;
/** Of what messages say of a file, which may hold names of any length. */
const LONGEST_WORDS = 200;

/**
 * Checks a profile's document.
 *
 * @param source - what messages call it, such as a file's name.
 * @throws TrainerError PROFILE, naming the member that is wrong and what it must be.
 */
export function checkProfile(document: unknown, source: string): Profile {
  const check = checker(source);
  const profile = check.members(
    document,
    "",
    ["name", "description", "measured", "link", "kinds", "devices"],
    ["network"],
  );
  check.text(profile["name"], "name");
  check.text(profile["description"], "description");
  check.that(typeof profile["measured"] === "boolean", "measured", "true or false");
  checkLink(check, profile["link"], "link");
  if (profile["network"] !== undefined) {
    const { hidden, labels } = check.members(
      profile["network"],
      "network",
      ["hidden", "labels"],
      [],
    );
    check.that(
      isList(hidden, MOST_LAYERS) && hidden.every(isCount),
      "network.hidden",
      `a list of one to ${MOST_LAYERS} whole numbers of at least 1`,
    );
    check.that(isCount(labels), "network.labels", "a whole number of at least 1");
  }
  const kinds = check.object(profile["kinds"], "kinds");
  const names = Object.keys(kinds);
  check.that(names.length > 0, "kinds", "at least one kind of device");
  check.that(names.length <= MOST_KINDS, "kinds", `at most ${MOST_KINDS} kinds of devices`);
  for (const [name, kind] of Object.entries(kinds)) {
    check.that(/^[a-z][a-z0-9]*$/i.test(name), `kinds.${name}`, "named by letters and digits");
    checkKind(check, kind, `kinds.${name}`);
  }
  const { devices } = profile;
  check.that(
    isList(devices, MOST_SIMULATED_DEVICES),
    "devices",
    `a list of at least one device, and of at most ${MOST_SIMULATED_DEVICES}`,
  );
  for (const [i, device] of (devices as readonly unknown[]).entries()) {
    checkDevice(check, device, `devices[${i}]`, names);
  }
  return document as Profile;
}

type Members = Readonly<Record<string, unknown>>;

interface Checker {
  that(holds: boolean, name: string, expected: string): void;
  object(value: unknown, name: string): Members;
  /** An object of these members, some of them optional. */
  members(
    value: unknown,
    name: string,
    needed: readonly string[],
    known: readonly string[],
  ): Members;
  text(value: unknown, name: string): void;
  number(value: unknown, name: string, least: "0" | "above 0"): void;
}

function checker(source: string): Checker {
  const that = (holds: boolean, name: string, expected: string) => {
    if (holds) return;
    const where = name === "" ? "it" : brief(name);
    throw new TrainerError(
      "PROFILE",
      `the profile ${source} is wrong: ${where} must be ${brief(expected)}`,
    );
  };
  const object = (value: unknown, name: string): Members => {
    that(typeof value === "object" && value !== null && !Array.isArray(value), name, "an object");
    return value as Members;
  };
  return {
    that,
    object,
    members(value, name, needed, known) {
      const members = object(value, name);
      const prefix = name === "" ? "" : `${name}.`;
      for (const key of needed) that(members[key] !== undefined, `${prefix}${key}`, "there");
      for (const key of Object.keys(members)) {
        const all = [...needed, ...known];
        that(all.includes(key), `${prefix}${key}`, `left out: what is known is ${all.join(", ")}`);
      }
      return members;
    },
    text: (value, name) => that(typeof value === "string" && value !== "", name, "a text"),
    number: (value, name, least) =>
      that(
        Number.isFinite(value) && (least === "0" ? Number(value) >= 0 : Number(value) > 0),
        name,
        least === "0" ? "a number of at least 0" : "a number above 0",
      ),
  };
}

function brief(text: string): string {
  return text.length > LONGEST_WORDS ? `${text.slice(0, LONGEST_WORDS)}…` : text;
}

function isList(value: unknown, most: number): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.length <= most;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

function checkLink(check: Checker, value: unknown, name: string): void {
  const { latency, bandwidth } = check.members(value, name, ["latency", "bandwidth"], []);
  check.number(latency, `${name}.latency`, "0");
  check.number(bandwidth, `${name}.bandwidth`, "above 0");
}

function checkKind(check: Checker, value: unknown, name: string): void {
  const times = ["fixed", "perRow", "perNonZero"];
  const others = ["perUpdate", "jitter", "threads", "role", "maxBatchRows", "link"];
  const kind = check.members(value, name, times, others);
  for (const key of times) check.number(kind[key], `${name}.${key}`, "0");
  check.that(
    times.some((key) => Number(kind[key]) > 0),
    name,
    "of times of which one is above 0",
  );
  const { perUpdate = 0, jitter = 0, maxBatchRows = 1, link } = kind;
  check.number(perUpdate, `${name}.perUpdate`, "0");
  check.number(jitter, `${name}.jitter`, "0");
  check.that(Number(jitter) < 1, `${name}.jitter`, "below 1");
  check.that(isCount(maxBatchRows), `${name}.maxBatchRows`, "a whole number of at least 1");
  if (link !== undefined) checkLink(check, link, `${name}.link`);
  checkPart(check, kind, name);
}

function checkPart(check: Checker, { threads = 1, role = "host" }: Members, name: string): void {
  check.that(isCount(threads), `${name}.threads`, "a whole number of at least 1");
  check.that(role === "host" || role === "accelerator", `${name}.role`, "host or accelerator");
}

function checkDevice(check: Checker, value: unknown, name: string, kinds: readonly string[]): void {
  const others = ["speed", "threads", "role", "joins", "leaves"];
  const device = check.members(value, name, ["kind"], others);
  const { kind, speed = 1, joins = 0, leaves } = device;
  check.that(
    kinds.some((known) => known === kind),
    `${name}.kind`,
    `one of ${kinds.join(", ")}`,
  );
  if (Array.isArray(speed)) checkPlan(check, speed, `${name}.speed`);
  else check.number(speed, `${name}.speed`, "above 0");
  check.number(joins, `${name}.joins`, "0");
  if (leaves !== undefined) {
    check.number(leaves, `${name}.leaves`, "0");
    check.that(Number(leaves) > Number(joins), `${name}.leaves`, "after it has joined");
  }
  checkPart(check, device, name);
}

function checkPlan(check: Checker, plan: readonly unknown[], name: string): void {
  let before = -1;
  for (const [i, piece] of plan.entries()) {
    const isPair = Array.isArray(piece) && piece.length === 2;
    check.that(isPair, `${name}[${i}]`, "a pair of seconds and the speed from then on");
    const [from, speed] = piece as readonly unknown[];
    check.number(speed, `${name}[${i}][1]`, "above 0");
    check.that(
      Number.isFinite(from) && (i === 0 ? from === 0 : Number(from) > before),
      `${name}[${i}][0]`,
      i === 0 ? "0" : "later than the one before",
    );
    before = Number(from);
  }
  check.that(plan.length > 0, name, "a speed, or a list of at least one pair");
}
