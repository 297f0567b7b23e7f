import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initialise, parameterLayout, rowNorm } from "@heterosgd/model";
import { createDatasetBuilder } from "@heterosgd/sparse";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wordFiles, writePeerData } from "./peer-data.js";

const folder = mkdtempSync(join(tmpdir(), "peer-data-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function rowsOf(count: number) {
  const builder = createDatasetBuilder({ features: 7, labels: 5 });
  for (let row = 0; row < count; row++) {
    const labels = row % 4 === 3 ? [] : [row % 5, 4].filter((id, i, all) => all.indexOf(id) === i);
    builder.addRow({
      features:
        row % 3 === 2
          ? []
          : [
              [row % 3, 0.5],
              [5, row],
            ],
      labels: labels.toSorted((a, b) => a - b),
    });
  }
  return builder.finish();
}

const train = rowsOf(2500);
const held = rowsOf(3);

interface Plan {
  readonly features: number;
  readonly hidden: number;
  readonly labels: number;
  readonly arrays: Readonly<Record<string, { type: string; offset: number; length: number }>>;
}
let plan: Plan;

beforeAll(() => {
  writePeerData(folder, { train, test: held }, 6);
  plan = JSON.parse(readFileSync(join(folder, "peers.json"), "utf8")) as Plan;
});

function arrayOf(name: string): Float32Array | Uint32Array {
  const { type, offset, length } = plan.arrays[name]!;
  const bytes = readFileSync(join(folder, "peers.bin")).subarray(offset, offset + 4 * length);
  const buffer = Uint8Array.from(bytes).buffer;
  return type === "<f4" ? new Float32Array(buffer) : new Uint32Array(buffer);
}

test("both parts can be read again", () => {
  for (const [name, { features, labels }] of Object.entries({ train, test: held })) {
    expect([...arrayOf(`${name}.offsets`)]).toEqual([...features.offsets]);
    expect([...arrayOf(`${name}.indices`)]).toEqual([...features.indices]);
    expect([...arrayOf(`${name}.values`)]).toEqual([...features.values]);
    expect([...arrayOf(`${name}.labelOffsets`)]).toEqual([...labels.offsets]);
    expect([...arrayOf(`${name}.labels`)]).toEqual([...labels.indices]);
  }
});

test("everyone begins with the parameters that heterosgd begins with", () => {
  const layout = parameterLayout({
    features: 7,
    hidden: [6],
    labels: 5,
    activation: "relu",
    loss: "softmax",
  });
  const parameters = new Float32Array(layout.length);
  initialise(layout, parameters, 1, { rowNorm: rowNorm(train.features) });
  expect(plan).toMatchObject({ features: 7, hidden: 6, labels: 5 });
  for (const { name, offset, length } of layout.tensors) {
    expect([...arrayOf(name)]).toEqual([...parameters.subarray(offset, offset + length)]);
  }
});

test("fastText gets a line a row, with a word a feature", () => {
  const lines = readFileSync(join(folder, wordFiles.train), "utf8").split("\n");
  expect(lines).toHaveLength(2501);
  expect(lines.slice(0, 5)).toEqual([
    "__label__0 __label__4 f0 f5",
    "__label__1 __label__4 f1 f5",
    "__label__2 __label__4",
    "f0 f5",
    "__label__4 f1 f5",
  ]);
  expect(readFileSync(join(folder, wordFiles.test), "utf8").split("\n")).toHaveLength(4);
});
