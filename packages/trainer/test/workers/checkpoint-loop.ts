/**
 * Writes one checkpoint after another into a folder, and says on a line each when it is written; or why
 * not, and ends. Arguments: folder, first step, how many, units of the hidden layer.
 */
import { pruneCheckpoints } from "../../src/checkpoint/remove-checkpoints.js";
import { writeCheckpoint } from "../../src/checkpoint/write-checkpoint.js";
import { randomCheckpoint } from "../random-checkpoint.js";

const [folder = "", first = "1", count = "Infinity", hidden = "2"] = process.argv.slice(2);

for (let step = Number(first); step < Number(first) + Number(count); step++) {
  const contents = randomCheckpoint(step, { step, precision: null, hidden: Number(hidden) });
  try {
    await writeCheckpoint(folder, contents);
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: string };
    process.stdout.write(`${JSON.stringify({ step, code, message })}\n`);
    break;
  }
  process.stdout.write(`${JSON.stringify({ step })}\n`);
  await pruneCheckpoints(folder, 1);
}
