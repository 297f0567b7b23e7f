/** Runs of which every checkpoint is kept, to go on from any of them. */
import { expect } from "vitest";
import type {
  Checkpoint,
  CheckpointOptions,
  listCheckpoints,
  openCheckpoint,
  RunEvent,
} from "../src/index.js";

/** Checkpoints whose place in the events is counted in lines. */
export function keepAll(
  folder: string,
  events: readonly RunEvent[],
  everySeconds: number | undefined,
): CheckpointOptions {
  return {
    folder,
    keep: 1000,
    position: () => Promise.resolve({ bytes: 0, lines: events.length }),
    ...(everySeconds === undefined ? {} : { everySeconds }),
  };
}

/** Opens all of them, the oldest first; each must be whole. */
export async function openAll(
  folder: string,
  trainer: {
    readonly listCheckpoints: typeof listCheckpoints;
    readonly openCheckpoint: typeof openCheckpoint;
  },
): Promise<readonly Checkpoint[]> {
  const { checkpoints, unusable } = await trainer.listCheckpoints(folder);
  expect(unusable).toEqual([]);
  return Promise.all(checkpoints.map(({ path }) => trainer.openCheckpoint(path)));
}
