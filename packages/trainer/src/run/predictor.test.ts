import { parameterLayout, type ModelShape } from "@heterosgd/model";
import { datasetFromRows } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { predict } from "./predictor.js";

test.each(["softmax", "sigmoid"] as const)(
  "scores of %s that overflow are refused, after the rows before them",
  async (loss) => {
    const shape: ModelShape = { features: 2, hidden: [1], labels: 2, activation: "relu", loss };
    const layout = parameterLayout(shape);
    const parameters = new Float32Array(layout.length);
    for (const { weights } of layout.layers) {
      parameters.fill(3e38, weights.offset, weights.offset + weights.length);
    }
    const dataset = datasetFromRows(
      [
        { features: [[0, 0]], labels: [] },
        { features: [[1, 1]], labels: [] },
      ],
      { features: 2, labels: 2 },
    );
    const rows = predict({ shape, parameters, dataset, k: 2 });
    expect(await rows.next()).toMatchObject({ value: [{ label: 0 }, { label: 1 }] });
    await expect(rows.next()).rejects.toMatchObject({
      code: "NOT_FINITE",
      message: expect.stringContaining("row 1") as string,
    });
  },
);
