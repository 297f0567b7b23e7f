import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeError, exitCodeOf } from "../src/errors.js";
import { runProgram } from "../src/program.js";
import { easyRows, run, temporaryFolder, writeEasyData } from "./command.js";

const folder = temporaryFolder();

beforeAll(() => {
  writeEasyData(folder);
  mkdirSync(join(folder, "folder"));
  writeFileSync(join(folder, "empty.txt"), "");
  const packed = gzipSync(`240 16 3\n${easyRows(240).join("\n")}\n`);
  writeFileSync(join(folder, "truncated.txt.gz"), packed.subarray(0, packed.length / 2));
  writeFileSync(join(folder, "header.txt"), "2 16 3\n0 0:1\n");
  writeFileSync(join(folder, "value.txt"), "2 16 3\n0 0:1\n1 3:1 5:x7\n");
  writeFileSync(join(folder, "bad.json"), '{ "epoch": 3 }');
  writeFileSync(join(folder, "rowless.txt"), "0 16 3\n");
  writeFileSync(join(folder, "unlabelled.txt"), "1:1 2:1\n2:1\n");
  writeFileSync(join(folder, "two.txt"), "a\nb\n");
});

const cases: readonly (readonly [what: string, args: string, code: number, message: RegExp])[] = [
  [
    "an unknown verb",
    "trian train.txt",
    2,
    /unknown command 'trian'; did you mean train\? \[USAGE\]/,
  ],
  [
    "an unknown flag",
    "train train.txt --epoch 3",
    2,
    /'--epoch'; did you mean --epochs\? \[USAGE\]/,
  ],
  ["a flag without its value", "train train.txt --epochs", 2, /--epochs <N>.* missing/],
  ["help of an unknown verb", "help trian", 2, /unknown command 'trian'; did you mean train\?/],
  ["two things to print", "config --schema --defaults", 2, /--defaults and --schema .*\[USAGE\]/],
  ["too many arguments", "train train.txt more.txt", 2, /too many arguments.* \[USAGE\]/],
  ["a missing argument", "eval", 2, /missing required argument 'model' \[USAGE\]/],
  ["no rows to evaluate", "eval m", 2, /no file of rows is named; .*\[USAGE\]/],
  ["standard input for train", "train - --quiet", 2, /only predict reads .*\[USAGE\]/],
  ["standard input for inspect", "inspect -", 2, /only predict reads .*\[USAGE\]/],
  ["a bad value", "train train.txt --epochs 1.5", 2, /--epochs is 1.5, but must be a whole number/],
  [
    "a layer too large",
    "train train.txt --hidden 99999999999",
    2,
    /--hidden is 99999999999, but must be a list of whole numbers from 1 to .*\[BAD_VALUE\]/,
  ],
  [
    "a learning rate beyond float32",
    "train train.txt --learning-rate 1e42",
    2,
    /--learning-rate is 1e\+42, but must be a number above 0 and at most 3\.4e38.*\[BAD_VALUE\]/,
  ],
  ["a bad key", "train --config bad.json", 2, /"epoch" in bad\.json; did you mean "epochs"\?/],
  ["no data", "train", 2, /no training data; .*\[CONFLICT\]/],
  ["an unknown device", "train train.txt --devices tpu", 2, /"tpu".*\[DEVICE_SPEC\]/],
  [
    "a missing file",
    "train --quiet nowhere.txt",
    3,
    /nowhere\.txt does not exist.*\[FILE_NOT_FOUND\]/,
  ],
  ["a folder", "train --quiet folder", 3, /folder is a directory.*\[IS_DIRECTORY\]/],
  ["an empty file", "train --quiet empty.txt", 3, /empty\.txt is empty.*\[EMPTY_FILE\]/],
  [
    "a truncated gzip",
    "train --quiet truncated.txt.gz",
    3,
    /truncated\.txt\.gz is cut off.*\[TRUNCATED_GZIP\]/,
  ],
  [
    "a wrong count of rows",
    "train --quiet header.txt",
    3,
    /header\.txt:\d+:1: .*2 rows.*after 1.*\[ROW_COUNT\]/,
  ],
  ["a wrong value", "train --quiet value.txt", 3, /value\.txt:3:\d+: .*x7.*\[BAD_NUMBER\]/],
  ["no header", "train --quiet value.txt --format libsvm", 3, /value\.txt:1:\d+: .*\[[A-Z_]+\]/],
  [
    "a header that is none",
    "train --quiet two.txt --format xc",
    3,
    /two\.txt:1:1: expected a header.*--format xc-rows.*\[XC_HEADER\]/,
  ],
  ["no rows", "train --quiet rowless.txt", 3, /rowless\.txt has no rows; .*\[EMPTY_DATA\]/],
  [
    "no labels",
    "train --quiet unlabelled.txt --format libsvm",
    3,
    /no labels; it must have rows, features and labels \[EMPTY_DATA\]/,
  ],
  [
    "no test rows",
    "train --quiet train.txt --test rowless.txt",
    3,
    /rowless\.txt has no rows; .*\[EMPTY_DATA\]/,
  ],
  ["data named twice", "train a.txt --train b.txt", 2, /a\.txt.*\[CONFLICT\]/],
  [
    "nothing held out",
    "train --quiet train.txt --validation 0.001",
    2,
    /leaves 240 .* 0 .*\[CONFLICT\]/,
  ],
  [
    "too few names",
    "train --quiet train.txt --label-names two.txt",
    3,
    /2 labels, but the data has 3;.*\[LABEL_NAMES\]/,
  ],
  ["no model", "predict nowhere.safetensors", 3, /nowhere\.safetensors.*\[MODEL_NOT_FOUND\]/],
  ["a model that is none", "predict train.txt", 3, /train\.txt.*\[MODEL_[A-Z]+\]/],
  [
    "a bad path for the run",
    "train train.txt --out train.txt --quiet",
    1,
    /train\.txt.*\[RUN_FOLDER\]/,
  ],
];

// Within this process, which is much faster; how the command shows errors is tested below.
describe("what went wrong is said in one line, with an exit code of its own:", () => {
  const before = process.cwd();
  beforeAll(() => process.chdir(folder));
  afterAll(() => process.chdir(before));

  test.each(cases)("%s", async (_, args, code, message) => {
    const error: unknown = await runProgram(args.split(" "), () => undefined).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(describeError(error)).toMatch(message);
    expect(describeError(error)).not.toContain("\n");
    expect(exitCodeOf(error)).toBe(code);
  });
});

test("an error is one line on stderr, and nothing on stdout", async () => {
  const usage = await run(["train", "train.txt", "--epoch", "3"], { folder });
  expect(usage).toMatchObject({
    code: 2,
    stdout: "",
    stderr: "error: unknown option '--epoch'; did you mean --epochs? [USAGE]\n",
  });
  const data = await run(["train", "value.txt", "--quiet"], { folder });
  expect(data).toMatchObject({ code: 3, stdout: "" });
  expect(data.stderr).toMatch(/^error: value\.txt:3:\d+: .*\[BAD_NUMBER\]\n$/);
});

test.each([
  [
    "what a verb throws",
    "inspect nowhere.txt --json --quiet",
    3,
    "FILE_NOT_FOUND",
    /^nowhere\.txt/,
  ],
  ["words that are not understood", "eval --json", 2, "USAGE", /^missing required argument/],
  [
    "a dry run that would not fit",
    "train train.txt --hidden 60000,60000 --devices 64*cpu --dry-run --json --quiet",
    1,
    "NOT_ENOUGH_MEMORY",
    / TiB .*; --devices cpu needs /,
  ],
] as const)(
  "with --json, %s is the one document on stdout too",
  async (_, args, code, errorCode, message) => {
    const ended = await run(args.split(" "), { folder });
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(/^error: .*\n$/);
    expect(JSON.parse(ended.stdout)).toEqual({
      error: { code: errorCode, message: expect.stringMatching(message), exitCode: code },
    });
  },
);

test("the stack is shown to those who ask for it", async () => {
  const verbose = await run(["inspect", "nowhere.txt", "--verbose"], { folder });
  expect(verbose.stderr).toMatch(/\n {4}at [\s\S]*\nerror: nowhere\.txt/);
  const environment = { HETEROSGD_DEBUG: "1" };
  const debugged = await run(["inspect", "nowhere.txt"], { folder, environment });
  expect(debugged.stderr).toContain("    at ");
});

test("help and version go to stdout, help without a verb to stderr", async () => {
  const help = await run(["train", "--help"], { folder });
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toContain("--learning-rate <RATE>");
  const version = await run(["--version"], { folder });
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(await run([], { folder })).toMatchObject({ code: 2, stdout: "" });
});
