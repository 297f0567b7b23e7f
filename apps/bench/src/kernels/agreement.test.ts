import { expect, test } from "vitest";
import { difference, requireAgreement } from "./agreement.js";

function entrant(name: string, values: readonly number[], bf16 = false) {
  const losses = new Float32Array(values.length);
  const dHidden = new Float32Array(1);
  const run = () => {
    losses.set(values);
    dHidden[0] = 1;
  };
  return { name, bf16, losses, dHidden, run };
}

test("a difference is a share of the largest figure; what is not a number shows", () => {
  expect(difference([10, 1.5], [10, 1])).toBe(0.05);
  expect(difference([0, 0], [0, 0])).toBe(0);
  expect(difference([Number.NaN], [1])).toBeNaN();
});

test("the same figures agree, others are refused by name", async () => {
  const same = [entrant("a", [1, 2]), entrant("b", [1, 2.0001])];
  await expect(requireAgreement("case", same)).resolves.toBeUndefined();
  await expect(requireAgreement("case", [...same, entrant("c", [1, 2.01])])).rejects.toThrow(
    "case: c and a differ",
  );
});

test("bfloat16 may differ more, not writing anything never agrees", async () => {
  const rough = [entrant("a", [1, 2]), entrant("b", [1, 2.01], true)];
  await expect(requireAgreement("case", rough)).resolves.toBeUndefined();
  const idle = { ...entrant("idle", [1, 2]), run: () => undefined };
  await expect(requireAgreement("case", [entrant("a", [1, 2]), idle])).rejects.toThrow("idle");
});
