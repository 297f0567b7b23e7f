/** What must hold of a run's folder: when the process has been killed, and at the end. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadModel } from "@heterosgd/model/node";
import { listCheckpoints, openCheckpoint, type RunEvent } from "@heterosgd/trainer";
import { countRows, readEvents, type RowCount } from "./history.js";
import { TRAIN_ROWS } from "./made-up-data.js";

/** Every checkpoint is whole, or says that it is not. @returns what is wrong. */
export async function checkpointProblems(run: string): Promise<readonly string[]> {
  const { checkpoints, unusable } = await listCheckpoints(join(run, "checkpoints"));
  const problems = unusable
    .map(({ error }) => error.message)
    .filter((message) => !message.includes("its writing was not completed"));
  for (const { path } of checkpoints) {
    await openCheckpoint(path).catch((error: unknown) => problems.push(messageOf(error)));
  }
  return problems;
}

/** What a run has come to. */
export interface FinishedFolder extends RowCount {
  readonly parameters: Float32Array;
  /** On the test rows, at the end. */
  readonly precision: number;
  readonly events: readonly RunEvent[];
}

/** Reads a run that has come to its end. @throws Error if it has not, or any file is not whole. */
export async function readFinished(run: string, epochs: number): Promise<FinishedFolder> {
  const events = readEvents(run);
  const end = events.at(-1);
  if (end?.type !== "end") throw new Error(`events.jsonl ends with ${end?.type ?? "nothing"}`);
  if (end.reason !== "epochs") throw new Error(`the run ended by ${end.reason}`);
  if (!existsSync(join(run, "metrics.json"))) throw new Error("there is no metrics.json");
  JSON.parse(readFileSync(join(run, "metrics.json"), "utf8"));
  const { parameters } = await loadModel(join(run, "model.safetensors"));
  if (!parameters.every(Number.isFinite)) throw new Error("the model is not finite");
  const last = events.findLast((event) => event.type === "evaluation");
  if (last === undefined) throw new Error("the run was not evaluated");
  const precision = last.metrics.precision[0]!;
  return { ...countRows(events, { rows: TRAIN_ROWS, epochs }), parameters, precision, events };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether two models are the same to the last bit. */
export function sameModel(a: Float32Array, b: Float32Array): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Float32Array) =>
    Buffer.from(buffer, byteOffset, byteLength);
  return bytes(a).equals(bytes(b));
}
