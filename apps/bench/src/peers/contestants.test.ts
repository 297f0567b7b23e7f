import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { families, peerContestants } from "./contestants.js";
import { gridOf, rateOf } from "./rates.js";

const folder = mkdtempSync(join(tmpdir(), "contestants-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const findAll = (places: Parameters<typeof peerContestants>[0], family: string) =>
  Promise.all(
    peerContestants(places)
      .filter((one) => one.family === family)
      .map(({ find }) => find()),
  );

test("what is not installed is missing, with what would install it", async () => {
  const places = { python: join(folder, "python"), modules: undefined };
  for (const found of await findAll(places, "torch")) {
    expect(found).toMatchObject({
      missing: expect.stringMatching(/^.*python has no PyTorch \(.*ENOENT\)$/u),
      install: expect.stringContaining("apt-get install python3-torch"),
    });
  }
  expect(await findAll(places, "tfjs")).toMatchObject([
    { install: expect.stringContaining("npm install --prefix FOLDER @tensorflow/tfjs ") },
  ]);
  expect(await findAll({ ...places, modules: folder }, "tfjs")).toMatchObject([
    { missing: expect.stringMatching(/^there is no .*tfjs.package\.json$/u) },
  ]);
});

test("TensorFlow.js is found where --modules says", async () => {
  for (const name of ["tfjs", "tfjs-backend-wasm"]) {
    const path = join(folder, "node_modules", "@tensorflow", name);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "package.json"), '{"version":"4.22.0"}');
  }
  expect(await findAll({ python: "python3", modules: folder }, "tfjs")).toEqual([
    { version: "TensorFlow.js 4.22.0" },
  ]);
});

test("everyone is of a family, and has rates of its own or another's", () => {
  const all = peerContestants({ python: "python3", modules: undefined });
  const names = all.map(({ name }) => name);
  expect(names[0]).toBe("heterosgd");
  for (const { family, ratesOf } of all) {
    expect(["heterosgd", ...families]).toContain(family);
    expect(names).toContain(ratesOf);
    for (const set of ["cooking-stackexchange", "delicious", "wordnet-hypernyms", "other"]) {
      expect(gridOf(ratesOf)).toContain(rateOf(set, ratesOf));
    }
  }
});
