/** Each command on real devices against the contract in float64. */
import type { UpdateRule } from "@heterosgd/model";
import type { Command, DeviceId, ModelName, RowRange, Term } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import { coordinate } from "../src/coordinator/coordinate.js";
import { parseDevices, train } from "../src/index.js";
import { mortalWorker, type Fate } from "./mortal.js";
import { referenceExecutor } from "./reference-executor.js";
import { scriptPolicy } from "./script-policy.js";
import { syntheticRows } from "./synthetic.js";

const shape = {
  features: 40,
  hidden: [12, 9],
  labels: 10,
  activation: "tanh",
  loss: "softmax",
} as const;
const rows = syntheticRows(200);
const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-6 } as const;
const adagrad = { name: "adagrad", epsilon: 1e-6 } as const;
const healthy: Fate = { devices: [], method: "close", call: 1, end: "throw" };

/** Runs the script on two devices and by the contract. */
async function runBoth(
  models: readonly ModelName[],
  groups: readonly (readonly Command[])[],
  { rule = null, fate = healthy }: { rule?: UpdateRule | null; fate?: Fate } = {},
): Promise<{ readonly actual: Float32Array; readonly expected: Float64Array }> {
  const policy = scriptPolicy(models, groups);
  const options = { train: rows, shape, rule, policy, seed: 3 };
  const { parameters } = await train({
    ...options,
    evaluation: null,
    devices: parseDevices("cpu,cpu@0.7"),
    workerUrl: mortalWorker(fate),
  });
  const reference = referenceExecutor(options);
  await coordinate(
    policy,
    policy.start({ devices: [], rows: rows.rows, parameters: 0 }),
    reference,
  );
  return { actual: parameters, expected: reference.global() };
}

/** Largest difference, as a part of the largest element. */
function difference({ actual, expected }: Awaited<ReturnType<typeof runBoth>>): number {
  const largest = (values: Float64Array) =>
    values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return largest(expected.map((value, i) => value - actual[i]!)) / largest(expected);
}

const TOLERANCE = 1e-5;

const range = (start: number, count: number, epoch = 0): RowRange => ({ epoch, start, count });
const term = (model: ModelName, coefficient: number): Term => ({ model, coefficient });
const step = (device: DeviceId, ...ranges: RowRange[]) =>
  ({
    type: "step",
    device,
    rows: ranges,
    learningRate: 0.3,
    model: `replica:${device}`,
  }) as const;
const accumulate = (device: DeviceId, ranges: readonly RowRange[], reset: boolean, buffer: 0 | 1) =>
  ({
    type: "accumulate",
    device,
    rows: ranges,
    model: "global",
    into: `gradient:${device}:${buffer}`,
    reset,
  }) as const;
const pull = (device: DeviceId) => ({ type: "pull", device }) as const;
const push = (device: DeviceId, model?: ModelName) =>
  ({ type: "push", device, norm: false, ...(model && { model }) }) as const;
const blend = (
  id: number,
  target: ModelName,
  terms: readonly Term[],
  stateTerms: readonly Term[] = [],
) => ({ type: "blend", id, target, terms, stateTerms }) as const;
const rounds = <T>(count: number, group: (round: number) => readonly T[]): readonly T[] =>
  Array.from({ length: count }, (_, round) => group(round)).flat();

const RATE = 0.3;

test("synchronous SGD by gradients and a blend equals steps of one device on the whole batches", async () => {
  const batch = (round: number) => [range(20 * round, 13), range(20 * round + 13, 7)] as const;
  const parallel = await runBoth(
    ["global", "gradient:0:0", "gradient:1:1"],
    rounds(8, (round) => {
      const [left, right] = batch(round);
      return [
        [
          accumulate(0, [left], true, 0),
          push(0, "gradient:0:0"),
          accumulate(1, [right], true, 1),
          push(1, "gradient:1:1"),
        ],
        [
          blend(round, "global", [
            term("global", 1),
            term("gradient:0:0", -RATE / 20),
            term("gradient:1:1", -RATE / 20),
          ]),
        ],
      ];
    }),
  );
  const alone = await runBoth(
    ["global"],
    rounds(8, (round) => [[{ ...step(0, ...batch(round)), model: "global" }]]),
  );
  expect(difference(parallel)).toBeLessThan(TOLERANCE);
  expect(difference(alone)).toBeLessThan(TOLERANCE);
  expect(difference({ ...parallel, expected: alone.expected })).toBeLessThan(TOLERANCE);
});

test("gradients gather over batches, are applied where they are read, and start at zero again", async () => {
  const both = await runBoth(
    ["global", "gradient:0:0", "gradient:0:1", "gradient:1:0"],
    rounds(6, (round) => {
      const apply = (device: DeviceId, source: ModelName, count: number) =>
        ({ type: "apply", device, source, target: "global", scale: -RATE / count }) as const;
      return [
        [
          accumulate(0, [range(10 * round, 10)], false, 0),
          accumulate(0, [range(100 + 5 * round, 5), range(3, 2, 1)], false, 0),
          accumulate(0, [range(20, 4)], round % 2 === 0, 1),
          accumulate(1, [range(50 + 8 * round, 8)], false, 0),
        ],
        [apply(0, "gradient:0:0", 17), apply(0, "gradient:0:1", 8)],
        [apply(1, "gradient:1:0", 8)],
        // How far Adam corrects its bias says how many updates the model counts.
        [{ ...step(1, range(150, 6)), model: "global", learningRate: 0.01 }],
      ];
    }),
    { rule: adam },
  );
  expect(difference(both)).toBeLessThan(TOLERANCE);
});

test("what a blend without terms zeroes is zero", async () => {
  const both = await runBoth(
    ["global", "gradient:0:0"],
    [
      [accumulate(0, [range(0, 30)], false, 0)],
      [push(0, "gradient:0:0")],
      [blend(1, "gradient:0:0", [])],
      [accumulate(0, [range(30, 30)], false, 0), push(0, "gradient:0:0")],
      [blend(2, "global", [term("global", 1), term("gradient:0:0", -RATE / 30)])],
    ],
  );
  expect(difference(both)).toBeLessThan(TOLERANCE);
});

test.each([
  ["SGD", null],
  ["Adagrad", adagrad],
  ["Adam", adam],
] as const)("merging with momentum by rotation, and the state of %s with it", async (_, rule) => {
  const weights = [term("replica:0", 0.6), term("replica:1", 0.4)];
  const both = await runBoth(
    ["global", "previous", "next", "replica:0", "replica:1"],
    rounds(6, (round) => {
      const start = 30 * round;
      const momentum = round === 0 ? [] : [term("global", 0.4), term("previous", -0.4)];
      return [
        [
          pull(0),
          pull(1),
          { ...step(0, range(start, 17)), learningRate: 0.05, microBatchRows: 5 },
          { ...step(1, range(start + 17, 3), range(start + 20, 4, 1)), learningRate: 0.03 },
          push(0),
          push(1),
        ],
        [blend(round, "next", [...weights, ...momentum], weights)],
        [{ type: "rotate", names: ["previous", "global", "next"] }, pull(0), push(0)],
      ];
    }),
    { rule },
  );
  expect(difference(both)).toBeLessThan(TOLERANCE);
});

const elastic = (count: number) =>
  rounds(count, (round) => {
    const centre = [term("global", 0.6), term("replica:0", 0.2), term("replica:1", 0.2)];
    const drawn = (device: DeviceId) =>
      [term(`replica:${device}`, 0.8), term("global", 0.2)] as const;
    const own = (device: DeviceId) => [term(`replica:${device}`, 1)];
    return [
      [
        ...(round === 0 ? [pull(0), pull(1)] : []),
        step(0, range(20 * round, 12)),
        step(1, range(20 * round + 12, 8)),
        push(0),
        push(1),
      ],
      [blend(3 * round, "global", centre, [term("global", 1)])],
      [
        blend(3 * round + 1, "replica:0", drawn(0), own(0)),
        blend(3 * round + 2, "replica:1", drawn(1), own(1)),
      ],
    ] as const;
  });

test.each([
  ["SGD", null],
  ["Adam", adam],
] as const)(
  "blends in place onto the centre and onto replicas that go on, with %s",
  async (_, rule) => {
    const both = await runBoth(["global", "replica:0", "replica:1"], elastic(8), { rule });
    expect(difference(both)).toBeLessThan(TOLERANCE);
  },
);

test.each(["exit before", "exit after", "throw"] as const)(
  "a device lost in a blend in place (%s) leaves its slice blended once",
  async (end) => {
    const groups = elastic(1).slice(0, 2);
    const both = await runBoth(["global", "replica:0", "replica:1"], groups, {
      fate: { devices: [1], method: "blend", call: 1, end },
    });
    expect(difference(both)).toBeLessThan(TOLERANCE);
  },
);

test("a device that diverges ends the run under its own name, though the others are at work", async () => {
  const wild = { ...step(1, range(0, 20)), learningRate: 3e38 };
  const busy = Array.from({ length: 20 }, (_, i) => step(0, range(8 * i, 8)));
  const script = [[pull(0), pull(1), ...busy, wild, step(1, range(20, 5), range(3, 4, 1))]];
  const run = runBoth(["global", "replica:0", "replica:1"], script, { rule: adam });
  await expect(run).rejects.toMatchObject({
    code: "DIVERGED",
    message: expect.stringContaining(
      "on device 1 (cpu@0.7), rows 21 to 25 of epoch 1, rows 4 to 7 of epoch 2 at learning rate 0.3",
    ),
  });
});
