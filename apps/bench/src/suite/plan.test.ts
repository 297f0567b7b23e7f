import { expect, test } from "vitest";
import {
  cellsOf,
  choicesOf,
  combinationsOf,
  flagOf,
  onlyOf,
  testRuns,
  tuningRuns,
  type PlannedRun,
} from "./plan.js";
import { parseSuite } from "./suite-file.js";

const suite = parseSuite(
  JSON.stringify({
    description: "two",
    sets: ["delicious", { name: "own", train: "a", test: "b" }],
    platforms: [
      { name: "four", profile: "four-v100" },
      { name: "real", devices: "cpu,cpu@0.5" },
    ],
    options: { optimizer: "sgd", batch: 64 },
    algorithms: [
      { algorithm: "elastic", options: { batch: 32 } },
      { name: "alone", algorithm: "sync", devices: "cpu", grid: { momentum: [0.9] } },
    ],
    grid: { learningRate: [0.5, 1], paper: [true, false] },
    tuning: { validation: 0.2, seeds: [7, 8] },
    seeds: [1, 2, 3],
    stop: { epochs: 4, maxTime: 9, target: "P@1>=0.5" },
  }),
  "/x/my.json",
);
const cells = cellsOf(suite);

test("every combination of a grid comes once, the last option changing fastest", () => {
  expect(combinationsOf({ a: [1, 2], b: ["x", null] })).toEqual([
    { a: 1, b: "x" },
    { a: 1, b: null },
    { a: 2, b: "x" },
    { a: 2, b: null },
  ]);
  expect(combinationsOf({})).toEqual([{}]);
});

test("there is a cell for each data set, platform and algorithm", () => {
  expect(cells.length).toBe(8);
});

test("options become flags", () => {
  expect(flagOf("learningRate", 0.5)).toEqual(["--learning-rate", "0.5"]);
  expect(flagOf("dynamicDispatch", false)).toEqual(["--no-dynamic-dispatch"]);
  expect(flagOf("paper", true)).toEqual(["--paper"]);
  expect(flagOf("patience", null)).toEqual(["--patience", "none"]);
  expect(flagOf("hidden", [64, 32])).toEqual(["--hidden", "64,32"]);
});

test("tuning tries each combination with each of its seeds, and never names the test rows", () => {
  const runs = tuningRuns(suite, cells[0]!, "/data");
  expect(runs.length).toBe(8);
  expect(new Set(runs.map(({ file }) => file)).size).toBe(8);
  for (const { args } of runs) {
    expect(args).not.toContain("--test");
    expect(args.join(" ")).toContain("--validation 0.2");
    expect(args.join(" ")).not.toContain("--target");
  }
});

test("a grid of one combination is taken without tuning", () => {
  expect(tuningRuns(suite, cells[1]!, "/data")).toEqual([]);
});

test("a run's own options win over the suite's, and what was tuned over both", () => {
  const [first, ...others] = testRuns(suite, cells[0]!, "/data", { learningRate: 1 });
  expect(others.map(({ seed }) => seed)).toEqual([2, 3]);
  expect(first!.verb).toBe("simulate");
  expect(first!.args.join(" ")).toBe(
    "/data/delicious/delicious.train.txt.gz --test /data/delicious/delicious.test.txt.gz " +
      "--algorithm elastic --optimizer sgd --batch 32 --learning-rate 1 --epochs 4 --max-time 9 " +
      "--target P@1>=0.5 --profile four-v100 --seed 1",
  );
});

test("a platform without a profile is real; an algorithm's devices win over its own", () => {
  const cell = cells.find((it) => it.platform.name === "real" && it.contestant.name === "alone")!;
  const [run] = testRuns(suite, cell, "/data", {});
  expect(run!.verb).toBe("train");
  expect(run!.args.join(" ")).toContain("--devices cpu --seed 1");
});

test("a set's own stop, options, grid and platforms win over the suite's, and what it has for an algorithm over all", () => {
  const own = parseSuite(
    JSON.stringify({
      description: "own",
      sets: [
        "bibtex",
        {
          name: "delicious",
          stop: { epochs: 2 },
          options: { batch: 16, hidden: 8 },
          grid: { learningRate: [3, 4] },
          platforms: ["real"],
          algorithms: {
            special: { options: { batch: 99 }, grid: { learningRate: [7, 8, 9] } },
            async: { run: false },
          },
        },
      ],
      platforms: [
        { name: "four", profile: "four-v100" },
        { name: "real", devices: "cpu" },
      ],
      options: { batch: 64, optimizer: "sgd", hidden: 4 },
      algorithms: [
        { algorithm: "sync" },
        { algorithm: "elastic", options: { batch: 32 }, grid: { learningRate: [5] } },
        { name: "special", algorithm: "sync", options: { batch: 33 } },
        { algorithm: "async" },
      ],
      grid: { learningRate: [1, 2] },
      seeds: [1],
      stop: { epochs: 4, maxTime: 9 },
    }),
    "/x/my.json",
  );
  const told = cellsOf(own).map((cell) => {
    const choices = choicesOf(own, cell);
    const [{ args }] = testRuns(own, cell, "/data", choices[0]!) as [PlannedRun];
    return [
      cell.platform.name,
      choices.map(({ learningRate }) => learningRate),
      args.slice(5, args.indexOf("--max-time")).join(" "),
    ];
  });
  const plain = (platform: string) => [
    [platform, [1, 2], "--batch 64 --optimizer sgd --hidden 4 --learning-rate 1 --epochs 4"],
    [platform, [5], "--batch 32 --optimizer sgd --hidden 4 --learning-rate 5 --epochs 4"],
    [platform, [1, 2], "--batch 33 --optimizer sgd --hidden 4 --learning-rate 1 --epochs 4"],
    [platform, [1, 2], "--batch 64 --optimizer sgd --hidden 4 --learning-rate 1 --epochs 4"],
  ];
  expect(told).toEqual([
    ...plain("four"),
    ...plain("real"),
    ["real", [3, 4], "--batch 16 --optimizer sgd --hidden 8 --learning-rate 3 --epochs 2"],
    ["real", [5], "--batch 32 --optimizer sgd --hidden 8 --learning-rate 5 --epochs 2"],
    ["real", [7, 8, 9], "--batch 99 --optimizer sgd --hidden 8 --learning-rate 7 --epochs 2"],
  ]);
  expect(() => onlyOf(own, ["delicious", "four"])).toThrow(
    "delicious, four: in the suite my nothing of these is run together",
  );
});

test("a test run's file has the same name whatever was tuned", () => {
  const [a] = testRuns(suite, cells[0]!, "/data", { learningRate: 1 });
  const [b] = testRuns(suite, cells[0]!, "/data", { learningRate: 2 });
  expect(a!.file).toBe("test_delicious_four_elastic_seed=1.json");
  expect(b!.file).toBe(a!.file);
});

test("parts are chosen by name, and of a kind that is not named all stay", () => {
  const part = onlyOf(suite, ["own", "alone"]);
  expect(part.sets.map(({ name }) => name)).toEqual(["own"]);
  expect(part.platforms.length).toBe(2);
  expect(part.algorithms.map(({ name }) => name)).toEqual(["alone"]);
  expect(() => onlyOf(suite, ["elsewhere"])).toThrow('"elsewhere" is no part of the suite my');
});
