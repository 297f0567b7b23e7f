/**
 * The check of whole training steps: operations that are right one by one must be so in a chain.
 */
import type { DeviceArray, Loss, UpdateRule } from "../kernels/contract.js";
import { parameterLayout } from "../network/layout.js";
import { optimizerStateArrays } from "../network/memory.js";
import { createNetwork, type FlatGradientTarget } from "../network/network.js";
import type { Bench, TwinArray } from "./bench.js";
import { randomBatch } from "./random-batch.js";

const rules: readonly (UpdateRule | null)[] = [
  null,
  { name: "adagrad", epsilon: 0.1 },
  { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 0.1 },
];

export const stepsAgree =
  (loss: Loss) =>
  async <A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> => {
    const { kernels, reference, random } = bench;
    const shape = { features: 60, hidden: [9, 17], labels: 70, activation: "tanh", loss } as const;
    const layout = parameterLayout(shape);
    const tested = createNetwork(kernels, layout, { maxRows: 20 });
    const expected = createNetwork(reference, layout, { maxRows: 20 });
    for (const rule of rules) {
      const weights = bench.twin(bench.uniform(layout.length, -0.5, 0.5));
      const state = Array.from({ length: optimizerStateArrays(rule) }, () =>
        bench.twin(new Float32Array(layout.length)),
      );
      for (let step = 1; step <= 3; step++) {
        const batch = randomBatch(random, 21 - 3 * step, shape.features, shape.labels);
        const { rows } = batch;
        const target = <T extends DeviceArray>(
          pick: (twin: TwinArray<A>) => T,
        ): FlatGradientTarget<T> => {
          const common = { target: pick(weights), scale: 1 / rows };
          return rule === null
            ? { ...common, kind: "add", scale: -0.5 / rows }
            : { ...common, kind: "rule", rule, learningRate: 0.1, step, state: state.map(pick) };
        };
        const uploaded = kernels.upload(batch, 0);
        const actualLoss = await tested.train(
          uploaded,
          rows,
          weights.tested,
          target((twin) => twin.tested),
        );
        const expectedLoss = await expected.train(
          batch,
          rows,
          weights.reference,
          target((twin) => twin.reference),
        );
        const what = `${rule?.name ?? "SGD"}, step ${step}`;
        bench.compareHost(`${what}, loss`, [actualLoss], [expectedLoss]);
        await bench.compare(`${what}, parameters`, weights);
      }
    }
  };
