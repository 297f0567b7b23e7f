/**
 * fastText: a linear model of word vectors with a softmax, one label of a row drawn at a time. It has no
 * batches, takes no values, and evaluates only a finished model.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Dataset } from "@heterosgd/sparse";
import type { Outcome, Settings } from "./outcome.js";
import { wordFiles } from "./peer-data.js";
import { runPeer } from "./run-peer.js";

/** What it says while it trains, again and again: how far it is, and at the end that it is done. */
const progressPattern = /Progress:\s*([\d.]+)%/gu;

/** What it says last before it trains. */
const READ = "Number of labels:";

const SPARE_SECONDS = 300;

/** @throws Error with what it printed, if it fails. */
export async function runFasttext(
  folder: string,
  test: Dataset,
  rows: number,
  { threads, hidden, epochs, rate, maxSeconds }: Settings,
): Promise<Outcome> {
  const model = join(folder, "fasttext");
  const progress: { readonly share: number; readonly seconds: number }[] = [];
  const read = createProgressReader();
  let complaints = "";
  /** When it has read the words and begins to train. */
  let begin: number | null = null;
  const options = {
    input: join(folder, wordFiles.train),
    output: model,
    loss: "softmax",
    dim: hidden,
    lr: rate,
    epoch: epochs,
    thread: threads,
    minCount: 1,
    bucket: 0,
    seed: 1,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`-${name}`, String(value)]);
  try {
    const end = await runPeer({
      command: ["fasttext", "supervised", ...args],
      maxSeconds,
      onText(_, text, seconds) {
        complaints = (complaints + text).slice(-2000);
        if (complaints.includes(READ)) begin ??= seconds;
        progress.push(...read(text).map((share) => ({ share, seconds })));
      },
    });
    const last = progress.at(-1);
    if (begin === null || last === undefined || (end.code !== 0 && !end.isLate)) {
      throw new Error(`fasttext failed (${end.code}): ${complaints.trim()}`);
    }
    const stopped = end.isLate;
    const precision = stopped ? null : await precisionOf(folder, model, test);
    const done = { rows: last.share * epochs * rows, seconds: last.seconds - begin };
    return { milestones: [{ ...done, precision }], peak: end.peak, stopped };
  } finally {
    for (const ending of [".bin", ".vec"]) rmSync(`${model}${ending}`, { force: true });
  }
}

/** Reads the shares of the whole that are told, in whatever pieces the text comes: it writes words one by one. */
export function createProgressReader(): (text: string) => readonly number[] {
  let rest = "";
  return (text) => {
    const all = rest + text;
    const found = [...all.matchAll(progressPattern)];
    const last = found.at(-1);
    rest = last === undefined ? all : all.slice(last.index + last[0].length);
    return found.map(([, percent]) => Number(percent) / 100);
  };
}

/** P@1, rows without labels included. */
async function precisionOf(folder: string, model: string, test: Dataset): Promise<number> {
  let text = "";
  const file = join(folder, wordFiles.test);
  const { code } = await runPeer({
    command: ["fasttext", "predict", `${model}.bin`, file, "1"],
    maxSeconds: SPARE_SECONDS,
    onText: (stream, part) => void (stream === "stdout" && (text += part)),
  });
  if (code !== 0) throw new Error(`fasttext predict failed (${code})`);
  return hitsIn(text, test) / test.rows;
}

/** How many of the predictions, a line a row, are among the row's labels. */
export function hitsIn(text: string, { rows, labels }: Dataset): number {
  const lines = text.split("\n");
  let hits = 0;
  for (let row = 0; row < rows; row++) {
    const best = /^__label__(\d+)$/u.exec(lines[row] ?? "")?.[1];
    const wanted = labels.indices.subarray(labels.offsets[row], labels.offsets[row + 1]);
    if (best !== undefined && wanted.includes(Number(best))) hits++;
  }
  return hits;
}
