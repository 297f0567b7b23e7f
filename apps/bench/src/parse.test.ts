import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createTextReader } from "@heterosgd/sparse";
import { afterEach, describe, expect, it, vi } from "vitest";
import { parse, syntheticText } from "./parse.js";

const print = vi.spyOn(console, "log").mockImplementation(() => undefined);
afterEach(() => print.mockClear());

describe("syntheticText", () => {
  it.each(["xc", "libsvm"] as const)(
    "is %s text of the wished size and density, repeatable",
    (format) => {
      const bytes = syntheticText(format, 200_000, 1);
      expect(bytes.length).toBeGreaterThan(200_000);
      expect(bytes.length).toBeLessThan(203_000);
      expect(syntheticText(format, 200_000, 1)).toEqual(bytes);
      const reader = createTextReader();
      reader.push(bytes);
      const { dataset, format: found } = reader.finish();
      expect(found).toBe(format);
      expect(dataset.features.indices.length / dataset.rows).toBeCloseTo(77, -1);
    },
  );
});

describe("parse", () => {
  it("measures both formats, and prints median, spread and machine", async () => {
    const { measurements, environment } = await parse({ megabytes: 0.05, rounds: 3 });
    expect(measurements.map(({ format }) => format)).toEqual(["xc", "libsvm"]);
    for (const { cpu, wall, rows } of measurements) {
      expect(cpu.length).toBe(3);
      expect(wall.length).toBe(3);
      expect(rows).toBeGreaterThan(10);
    }
    const printed = String(print.mock.calls[0]?.[0]);
    expect(printed).toContain(environment.node);
    expect(printed).toMatch(/by processor time \d+ \(\d+ to \d+, 3 rounds\) MB\/s/);
  });

  it("measures a file, packed or not, and prints JSON where asked to", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parse-"));
    try {
      const path = join(folder, "rows.txt.gz");
      writeFileSync(path, gzipSync("2 9 9\n1 2:3\n4 5:6\n"));
      await parse({ file: path, rounds: 2, json: true });
      expect(JSON.parse(String(print.mock.calls[0]?.[0]))).toMatchObject({
        measurements: [{ text: "rows.txt.gz", format: "xc", rows: 2, nonZeros: 2 }],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("refuses sizes and rounds that are none", async () => {
    await expect(parse({ megabytes: Number.NaN })).rejects.toThrow(RangeError);
    await expect(parse({ rounds: 1.5 })).rejects.toThrow(RangeError);
  });
});
