import { expect, test } from "vitest";
import { calibrate } from "../src/simulate/calibrate.js";
import { options } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

test("rows that are too few to measure by give no profile", async () => {
  const { shape, rule, devices } = options();
  const few = { name: "few", train: syntheticRows(3), shape, rule, devices };
  await expect(calibrate(few)).rejects.toMatchObject({
    code: "DATA_MISMATCH",
    message: expect.stringContaining("training set of 3 rows") as string,
  });
});
