import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { gunzipSync } from "node:zlib";
import { createRandom, createTextReader } from "@heterosgd/sparse";
import { describeEnvironment, type Environment, environment } from "./environment.js";
import { distinct } from "./made-up-batches.js";
import { median } from "./statistics.js";

/** How fast one text is read from memory, in megabytes (10⁶ bytes) of text a second. */
export interface ParseMeasurement {
  readonly text: string;
  readonly format: "xc" | "libsvm";
  readonly bytes: number;
  readonly rows: number;
  readonly nonZeros: number;
  /** One figure a round, by the processor's time of the whole process (garbage collection too). */
  readonly cpu: readonly number[];
  /** One figure a round, by the clock. */
  readonly wall: readonly number[];
}

export interface ParseReport {
  readonly environment: Environment;
  readonly measurements: readonly ParseMeasurement[];
}

export interface ParseOptions {
  /** A file to read, plain or gzip, instead of made-up text. */
  readonly file?: string;
  /** Size of the made-up texts in megabytes. Default 64. */
  readonly megabytes?: number;
  /** Default 7, after one that does not count. */
  readonly rounds?: number;
  /** Prints one JSON document instead of a table. */
  readonly json?: boolean;
}

/** Shape of the made-up data, after Amazon-670k. */
const FEATURES = 135_909;
const LABELS = 670_091;
const MEAN_NON_ZEROS = 77;

/**
 * Made-up text of at least `bytes` bytes, the same for the same arguments: about 77 non-zeros a
 * row, indices log-uniform, values of five significant digits, in XC text one to five labels.
 */
export function syntheticText(format: "xc" | "libsvm", bytes: number, seed: number): Uint8Array {
  const random = createRandom(seed);
  const lines: string[] = [];
  let size = 0;
  while (size < bytes) {
    const labels = distinct(format === "xc" ? 1 + random.nextBelow(5) : 1, () =>
      random.nextBelow(LABELS),
    );
    const length = MEAN_NON_ZEROS - 35 + random.nextBelow(71);
    const indices = distinct(length, () => Math.floor(FEATURES ** random.nextFloat()) - 1);
    const base = format === "xc" ? 0 : 1;
    const entries = indices.map(
      (index) => `${index + base}:${Number((0.4 * random.nextFloat()).toPrecision(5))}`,
    );
    const line = `${labels.join(",")} ${entries.join(" ")}\n`;
    lines.push(line);
    size += line.length;
  }
  if (format === "xc") lines.unshift(`${lines.length} ${FEATURES} ${LABELS}\n`);
  return new TextEncoder().encode(lines.join(""));
}

function measure(text: string, bytes: Uint8Array, rounds: number): ParseMeasurement {
  const cpu: number[] = [];
  const wall: number[] = [];
  for (let round = 0; ; round++) {
    const startCpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    const reader = createTextReader();
    reader.push(bytes);
    const { dataset, format } = reader.finish();
    const nanoseconds = Number(process.hrtime.bigint() - start);
    const { user, system } = process.cpuUsage(startCpu);
    if (round > 0) {
      cpu.push(bytes.length / Math.max(1, user + system));
      wall.push((1e3 * bytes.length) / nanoseconds);
    }
    if (round === rounds) {
      const nonZeros = dataset.features.indices.length;
      return { text, format, bytes: bytes.length, rows: dataset.rows, nonZeros, cpu, wall };
    }
  }
}

async function fileText(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

/**
 * Measures how fast text is read from memory on one core, and prints it.
 *
 * @throws RangeError for a size or a number of rounds that is none.
 */
export async function parse(options: ParseOptions = {}): Promise<ParseReport> {
  const { file, megabytes = 64, rounds = 7, json = false } = options;
  if (!(megabytes > 0)) throw new RangeError(`megabytes must be above 0, received ${megabytes}`);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new RangeError(`rounds must be a whole number from 1 on, received ${rounds}`);
  }
  const at = environment();
  const measurements =
    file === undefined
      ? (["xc", "libsvm"] as const).map((format) =>
          measure(`made-up ${format}`, syntheticText(format, 1e6 * megabytes, 1), rounds),
        )
      : [measure(basename(file), await fileText(file), rounds)];
  const report = { environment: at, measurements };
  console.log(json ? JSON.stringify(report, null, 2) : describe(report));
  return report;
}

function describe({ environment: at, measurements }: ParseReport): string {
  const lines = measurements.map(
    ({ text, bytes, rows, nonZeros, cpu, wall }) =>
      `${text}: ${(bytes / 1e6).toFixed(1)} MB, ${rows} rows, ${(nonZeros / rows).toFixed(1)} non-zeros a row\n` +
      `  by processor time ${spread(cpu)} MB/s\n` +
      `  by the clock      ${spread(wall)} MB/s`,
  );
  return ["Reading text from memory", describeEnvironment(at), ...lines].join("\n");
}

function spread(figures: readonly number[]): string {
  const [low, high] = [Math.min(...figures), Math.max(...figures)];
  return `${median(figures).toFixed(0)} (${low.toFixed(0)} to ${high.toFixed(0)}, ${figures.length} rounds)`;
}
