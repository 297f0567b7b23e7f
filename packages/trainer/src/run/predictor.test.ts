import { parameterLayout, type ModelShape } from "@heterosgd/model";
import { datasetFromRows } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { createPredictor, predict } from "./predictor.js";

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

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("a predictor scores one data set after another as fresh ones would", async () => {
  const shape: ModelShape = {
    features: 3,
    hidden: [4],
    labels: 3,
    activation: "relu",
    loss: "softmax",
  };
  const layout = parameterLayout(shape);
  const parameters = Float32Array.from({ length: layout.length }, (_, i) => Math.sin(i));
  const datasets = [5, 1, 9].map((rows) =>
    datasetFromRows(
      Array.from({ length: rows }, (_, row) => ({ features: [[row % 3, row + 1]], labels: [] })),
      { features: 3, labels: 3 },
    ),
  );
  const options = { shape, parameters, k: 2, batchRows: 4 };
  const predictor = createPredictor(options);
  for (const dataset of datasets) {
    const rows = await collect(predictor.predict(dataset));
    expect(rows).toHaveLength(dataset.rows);
    expect(rows).toEqual(await collect(predict({ ...options, dataset })));
  }
  await predictor.close();
});
