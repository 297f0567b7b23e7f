/** The estimate of `--dry-run` beside what the command's process really held. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "@heterosgd/sparse";
import { describe, expect, test } from "vitest";
import { run, temporaryFolder } from "./command.js";

const folder = temporaryFolder();

/** Has the process leave its status behind: afterwards nobody knows it. Workers inherit it, and end earlier. */
function leavingStatus(path: string): string {
  const source =
    'import { readFileSync, writeFileSync } from "node:fs";' +
    'import { isMainThread } from "node:worker_threads";' +
    `if (isMainThread) process.on("exit", () => writeFileSync(${JSON.stringify(path)}, readFileSync("/proc/self/status")));`;
  return `--import=data:text/javascript,${encodeURIComponent(source)}`;
}

/** Estimate over peak. */
async function ratio(name: string, args: readonly string[]): Promise<number> {
  const all = [...args, "--out", name, "--quiet", "--json"];
  const planned = await run([...all, "--dry-run"], { folder });
  expect(planned.stderr).toBe("");
  const { memory } = JSON.parse(planned.stdout) as { readonly memory: { readonly total: number } };
  const status = join(folder, `${name}.status`);
  const environment = { NODE_OPTIONS: leavingStatus(status) };
  const ended = await run(all, { folder, environment });
  expect(ended.code, ended.stderr).toBe(0);
  const [, peak] = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(status, "utf8"))!;
  return memory.total / (1024 * Number(peak));
}

/** 6000 rows of 40 of 20,000 features, with one of 12,000 labels. */
function writeRows(path: string): void {
  const random = createRandom(1);
  const rows = Array.from({ length: 6000 }, () => {
    const features = new Set(Array.from({ length: 40 }, () => random.nextBelow(20_000)));
    const pairs = [...features].toSorted((a, b) => a - b).map((feature) => `${feature}:0.158`);
    return `${random.nextBelow(12_000)} ${pairs.join(" ")}\n`;
  });
  writeFileSync(path, `6000 20000 12000\n${rows.join("")}`);
}

// No system but Linux says what the peak was.
describe.skipIf(!existsSync("/proc/self/status"))("the estimate is within 15 % of the peak", () => {
  const cases: readonly (readonly [name: string, args: string])[] = [
    ["sample", "train --sample --devices cpu,cpu --max-steps 200 --checkpoint-every merge"],
    [
      "made-up",
      "train rows.txt --devices cpu --optimizer adagrad --max-steps 60 --checkpoint-every never",
    ],
    [
      "wasm",
      "train rows.txt --devices cpu,cpu --kernels wasm --optimizer sgd --max-steps 20 --checkpoint-every never",
    ],
    ["simulated", "simulate rows.txt --optimizer sgd --max-steps 8 --checkpoint-every never"],
  ];
  test.each(cases)("%s: heterosgd %s", { timeout: 300_000 }, async (name, args) => {
    writeRows(join(folder, "rows.txt"));
    const found = await ratio(name, args.split(" "));
    expect(found).toBeGreaterThan(0.85);
    expect(found).toBeLessThan(1.15);
  });
});

test(
  "a run that does not fit is refused by every verb, with numbers and a way out",
  { timeout: 300_000 },
  async () => {
    writeFileSync(join(folder, "few.txt"), "2 3 2\n0 1:1\n1 2:1\n");
    const huge = ["few.txt", "--hidden", "400000000", "--optimizer", "adam", "--json"];
    for (const verb of [
      ["train"],
      ["train", "--dry-run"],
      ["simulate"],
      ["simulate", "--dry-run"],
    ]) {
      const { code, stderr } = await run([...verb, ...huge, "--out", "refused"], { folder });
      expect(code).toBe(1);
      expect(stderr).toContain("NOT_ENOUGH_MEMORY");
      expect(stderr).toMatch(
        /the run needs [\d.]+ (GiB|TiB) more than its data, but [\d.]+ .iB are free/,
      );
      expect(stderr).toMatch(/--optimizer sgd needs [\d.]+/);
      expect(existsSync(join(folder, "refused"))).toBe(false);
    }
  },
);
