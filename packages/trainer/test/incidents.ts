/** Runs of which devices are lost, replaced and added, and what must hold of them whatever happens. */
import { algorithms } from "@heterosgd/scheduler";
import { expect } from "vitest";
import { replay, train, type RunEvent, type TrainOptions, type TrainResult } from "../src/index.js";
import { smallPolicy } from "./small-algorithms.js";
import { devicesOf, ofPolicy, shape } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

export const ROWS = 300;
const EPOCHS = 3;
const rows = syntheticRows(ROWS);
const evaluation = syntheticRows(60, { seed: 2 });

export interface Incident {
  readonly events: readonly RunEvent[];
  readonly result: TrainResult;
  /** The parameters that the recording is replayed to. */
  readonly replayed: () => Promise<Float32Array>;
}

type Changes = Omit<Partial<TrainOptions>, "policy"> & Pick<TrainOptions, "devices">;

/** Trains by the algorithm; lost devices are opened anew at once. */
export async function runOf(
  algorithm: string,
  changes: Changes,
  { epochs = EPOCHS } = {},
): Promise<Incident> {
  const options: TrainOptions = {
    train: rows,
    evaluation,
    shape,
    rule: null,
    policy: smallPolicy(algorithm, { epochs }),
    seed: 1,
    retryDelayMs: 1,
    ...changes,
  };
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent) => {
    events.push(event);
    changes.onEvent?.(event);
  };
  const result = await train({ ...options, onEvent });
  const replayed = () =>
    replay({ ...options, devices: devicesOf(events), events: ofPolicy(events) });
  return { events, result, replayed };
}

export const isType =
  <Type extends RunEvent["type"]>(type: Type) =>
  (event: RunEvent): event is Extract<RunEvent, { type: Type }> =>
    event.type === type;

/** Who has trained on each row of the first epochs, in order. */
function trainersOf(events: readonly RunEvent[], epochs: number): number[][] {
  const trainers = Array.from({ length: epochs * ROWS }, (): number[] => []);
  for (const { device, rows: ranges } of events.filter(isType("done"))) {
    for (const { epoch, start, count } of ranges) {
      for (let row = start; row < start + count && epoch < epochs; row++) {
        trainers[epoch * ROWS + row]!.push(device);
      }
    }
  }
  return trainers;
}

/**
 * Every row of the first `epochs` epochs counts once: where a row was trained on several times, all but
 * one of them were by devices that were lost.
 */
export function expectEachRowOnce({ events }: Pick<Incident, "events">, epochs: number): void {
  const lost = new Set(events.filter(isType("lost")).map(({ device }) => device));
  const trainers = trainersOf(events, epochs);
  expect(trainers.filter((devices) => devices.length === 0)).toEqual([]);
  const twice = trainers.filter((devices) => devices.slice(0, -1).some((id) => !lost.has(id)));
  expect(twice).toEqual([]);
}

/** Of a run that has come to its end: each row counts once, and the algorithm says so too. */
export function expectAllRowsOnce({ events }: Pick<Incident, "events">): void {
  expectEachRowOnce({ events }, EPOCHS);
  const reported = events.reduce(
    (sum, event) => sum + (event.type === "merge" || event.type === "round" ? event.rows : 0),
    0,
  );
  expect(reported).toBe(EPOCHS * ROWS);
}

/** The recording of a run by an algorithm without races is replayed to the last bit. */
export async function expectReplayed(
  { replayed, result }: Incident,
  algorithm: string,
): Promise<void> {
  if (algorithms[algorithm]!.races) return;
  expect(await replayed()).toEqual(result.parameters);
}
