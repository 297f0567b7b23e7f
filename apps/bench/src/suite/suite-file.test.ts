import { expect, test } from "vitest";
import { parseSuite, readSuite, shippedSuites } from "./suite-file.js";

const suite = {
  description: "two",
  sets: ["delicious"],
  platforms: [{ name: "four", profile: "four-v100" }],
  algorithms: [{ algorithm: "elastic" }, { name: "other", algorithm: "sync" }],
  seeds: [1],
  stop: { epochs: 2 },
};

const parse = (change: object) => parseSuite(JSON.stringify({ ...suite, ...change }), "/x/my.json");

test.each(shippedSuites())("the shipped suite %s can be read, and runs three seeds", (name) => {
  expect(readSuite(name)).toMatchObject({ name, seeds: [1, 2, 3] });
});

test("the shipped suites are those of the README", () => {
  expect(shippedSuites()).toEqual([
    "ablation",
    "averaging",
    "delayed",
    "hogbatch",
    "real",
    "scaling",
  ]);
});

test("a suite is named after its file, an algorithm after itself where it has no name", () => {
  const { name, algorithms, grid, tuning } = parse({});
  expect(name).toBe("my");
  expect(algorithms.map((it) => it.name)).toEqual(["elastic", "other"]);
  expect({ grid, tuning }).toEqual({ grid: {}, tuning: { validation: 0.1, seeds: [1] } });
});

test("paths are relative to the suite's file", () => {
  const { sets, platforms } = parse({
    sets: [{ name: "own", train: "a.txt", test: "../b.txt" }],
    platforms: [{ name: "mine", profile: "mine.json" }],
  });
  expect(sets[0]).toMatchObject({ name: "own", files: { train: "/x/a.txt", test: "/b.txt" } });
  expect(platforms[0]!.profile).toBe("/x/mine.json");
});

test("a shipped data set may have members of its own", () => {
  const { sets } = parse({ sets: ["bibtex", { name: "delicious", stop: { epochs: 1 } }] });
  expect(sets).toEqual([
    { name: "bibtex", files: null, options: {}, algorithms: {} },
    { name: "delicious", files: null, options: {}, algorithms: {}, stop: { epochs: 1 } },
  ]);
});

const withSet = (own: object) => ({ sets: [{ name: "delicious", ...own }] });

test.each([
  [withSet({ name: "elsewhere" }), 'sets[0]: there is no data set "elsewhere"; there are '],
  [withSet({ train: "a" }), "sets[0]: train and test: expected both files"],
  [{ sets: [3] }, "sets[0]: expected the name of a data set, or { name, … }"],
  [withSet({ epochs: 1 }), 'sets[0]: Unrecognized key: "epochs"'],
  [withSet({ stop: { epochs: 0 } }), "sets[0].stop.epochs: "],
  [withSet({ stop: { steps: 1 } }), 'sets[0].stop: Unrecognized key: "steps"'],
  [withSet({ options: { seed: 1 } }), "sets[0].options.seed: the runner sets it; see seeds"],
  [withSet({ grid: { learningRate: [] } }), "sets[0].grid.learningRate: "],
  [withSet({ platforms: [] }), "sets[0].platforms: "],
  [
    withSet({ platforms: ["five"] }),
    'sets[0].platforms: "five" is none of the suite\'s platforms, four',
  ],
  [
    withSet({ algorithms: { easgd: {} } }),
    'sets[0].algorithms: "easgd" is none of the suite\'s algorithms, elastic, other',
  ],
  [withSet({ algorithms: { other: { stop: 1 } } }), "sets[0].algorithms.other: Unrecognized"],
  [
    { ...withSet({ algorithms: { other: { run: false } } }), goal: { bestOf: "other" } },
    "sets[0].algorithms.other.run: the goal is its best",
  ],
  [{ sets: ["delicious", "delicious"] }, 'sets[1]: there are two of the name "delicious"'],
  [{ seeds: [] }, "seeds: "],
  [{ epochs: 3 }, 'the suite: Unrecognized key: "epochs"'],
  [{ stop: {} }, "stop.epochs: "],
  [{ sets: ["elsewhere"] }, 'sets[0]: there is no data set "elsewhere"; there are '],
  [{ algorithms: [{ name: "x" }] }, "algorithms[0].algorithm: "],
  [{ algorithms: [{ algorithm: "sync", options: { seed: 1 } }] }, "see seeds"],
  [{ options: { maxTime: 3 } }, "options.maxTime: the runner sets it; see stop"],
  [{ options: { "learning-rate": 3 } }, "named as in config files"],
  [{ options: { hidden: {} } }, "options.hidden: expected text, a number"],
  [{ grid: { learningRate: [] } }, "grid.learningRate: "],
  [{ platforms: [{ name: "none" }] }, "platforms[0]: expected a profile"],
  [{ platforms: [{ name: "a/b", devices: "cpu" }] }, "platforms[0].name: expected letters"],
  [{ goal: { bestOf: "easgd" } }, 'goal.bestOf: "easgd" is none of the suite\'s algorithms'],
  [{ goal: { precision: 2 } }, "goal"],
  [{ losses: [1], goal: { precision: 0.5 } }, "losses: they are told at shares of an algorithm's"],
  [{ losses: [] }, "losses: "],
  [
    { algorithms: [{ algorithm: "sync" }, { algorithm: "sync" }] },
    'algorithms[1]: there are two of the name "sync"',
  ],
])("%j is refused, naming file and member", (change, message) => {
  expect(() => parse(change)).toThrow("/x/my.json: ");
  expect(() => parse(change)).toThrow(message);
});

test("what is no JSON, or not there, is said", () => {
  expect(() => parseSuite("{", "/x/my.json")).toThrow("/x/my.json is no JSON");
  expect(() => readSuite("parsing")).toThrow(
    '"parsing" is a program of its own: npm run bench -- parse',
  );
  expect(() => readSuite("nosuch")).toThrow('there is no suite "nosuch"; there are ablation, ');
  expect(() => readSuite("./nosuch.json")).toThrow("there is no file ./nosuch.json");
});
