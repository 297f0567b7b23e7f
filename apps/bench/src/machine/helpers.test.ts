import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { loadHelpers } from "./helpers.js";
import { processorIsas } from "./isas.js";

function hasCompiler(): boolean {
  try {
    execFileSync(process.env["CXX"] ?? "g++", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasCompiler())("the bench's own C++", () => {
  const isas = processorIsas();
  const helpers = loadHelpers(isas);

  it("counts the operations of the peak for every instruction set", () => {
    for (const isa of isas) {
      const run = helpers.peaks.get(isa)!;
      expect(run(2000)).toBe(2 * run(1000));
      expect(run(1) % 96).toBe(0);
    }
  });

  it("measures the thread's own time, which stands still while it waits", () => {
    const began = helpers.threadSeconds();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    expect(helpers.threadSeconds() - began).toBeLessThan(0.03);
  });

  it.each([1, 2])("computes softmax, loss and gradients with %i threads", (threads) => {
    const [rows, classes] = [5, 37];
    const logits = Float32Array.from({ length: rows * classes }, (_, i) => Math.sin(3 * i) * 5);
    const bias = Float32Array.from({ length: classes }, (_, i) => Math.cos(i));
    const labelOffsets = Uint32Array.from([0, 1, 3, 4, 5, 7]);
    const labels = Uint32Array.from([4, 0, 36, 9, 9, 1, 2]);
    const [wanted, wantedBias] = [Float64Array.from(logits), Float64Array.from(bias)];
    const wantedLosses = Array.from({ length: rows }, (_, row) => {
      const z = Array.from({ length: classes }, (__, i) => logits[row * classes + i]! + bias[i]!);
      const logSum = Math.log(z.reduce((total, value) => total + Math.exp(value), 0));
      const own = [...labels.subarray(labelOffsets[row], labelOffsets[row + 1])];
      for (let i = 0; i < classes; i++) {
        const target = own.includes(i) ? 1 / own.length : 0;
        wanted[row * classes + i] = Math.exp(z[i]! - logSum) - target;
      }
      return logSum - own.reduce((total, label) => total + z[label]! / own.length, 0);
    });
    for (let i = 0; i < rows * classes; i++) wantedBias[i % classes]! += -0.5 * wanted[i]!;

    const losses = new Float32Array(rows);
    const sums = new Float32Array(threads * classes);
    helpers.softmax(logits, bias, -0.5, labelOffsets, labels, rows, classes, threads, sums, losses);
    for (const [i, value] of wanted.entries()) expect(logits[i]).toBeCloseTo(value, 5);
    for (const [i, value] of wantedBias.entries()) expect(bias[i]).toBeCloseTo(value, 5);
    for (const [i, value] of wantedLosses.entries()) expect(losses[i]).toBeCloseTo(value, 4);
  });
});
