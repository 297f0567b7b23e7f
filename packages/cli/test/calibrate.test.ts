import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkProfile } from "@heterosgd/trainer";
import { beforeAll, expect, test } from "vitest";
import { checkWords } from "../src/commands/calibrate.js";
import { run, temporaryFolder, writeEasyData } from "./command.js";

const folder = temporaryFolder();
const command = (...args: string[]) => run(args, { folder });

beforeAll(() => {
  writeEasyData(folder);
});

test("measures a profile of unequal devices, says how far off it is, and simulates by it", async () => {
  const what = ["--train", "train.txt", "--devices", "cpu,cpu@0.3", "--hidden", "8"];
  const ended = await command("devices", "--calibrate", "here.json", ...what);
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stdout).toMatch(/^error +[-+][\d.]+ % \((within|more than) 10 %.*simulated [\d.]+/m);
  const file = join(folder, "here.json");
  const profile = checkProfile(JSON.parse(readFileSync(file, "utf8")), file);
  expect(profile).toMatchObject({ name: "here", measured: true, network: { hidden: [8] } });
  const batch = (kind: string) => {
    const { fixed, perRow, perNonZero } = profile.kinds[kind]!;
    return fixed + 64 * (perRow + 3 * perNonZero);
  };
  // A handicap of 0.3 makes 3.3 times as slow.
  expect(batch("cpu1") / batch("cpu0")).toBeGreaterThan(1.3);

  const again = await command("devices", "--calibrate", "here.json", ...what);
  expect(again).toMatchObject({ code: 2 });
  expect(again.stderr).toMatch(/here\.json: it is there already; .*--force/);

  const simulated = await command("simulate", "train.txt", "--profile", "here.json", "--out", "s");
  expect(simulated.code).toBe(0);
  expect(simulated.stdout).toContain("by the profile here (measured)");
}, 120_000);

test("options of the measurement are for the measurement", async () => {
  const { code, stderr } = await command("devices", "--hidden", "8");
  expect(code).toBe(2);
  expect(stderr).toMatch(/--hidden is for --calibrate/);
});

test("an error is shown with its sign and whether it is small enough", () => {
  expect(checkWords({ rows: 1000, real: 2, simulated: 1.9, error: -0.05 })).toBe(
    "error    -5.0 % (within 10 %): 1,000 rows took 2.0 s, simulated 1.9 s",
  );
  expect(checkWords({ rows: 1, real: 2, simulated: 2.4, error: 0.2 })).toContain(
    "+20.0 % (more than 10 %",
  );
});
