/** Files of events that somebody has changed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import {
  changedBytes,
  changedJson,
  fuzzCases,
  fuzzParameters,
  fuzzTimeout,
  readOrRefuse,
} from "../../../../test-support/hostile-files.js";
import { elementsOf } from "../../test/figures.js";
import { shortRun } from "../../test/made-up-run.js";
import { drawFigure } from "../draw/draw-figure.js";
import { serialise } from "../draw/serialise.js";
import { ReportError } from "../errors.js";
import { runFigures } from "../figures/run-figures.js";
import { createDocument } from "./document.js";
import { readRun } from "./read-run.js";

const folder = mkdtempSync(join(tmpdir(), "heterosgd-events-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "events.jsonl");
const document = createDocument();

const linesOf = (events: readonly unknown[]) =>
  events.map((event) => `${JSON.stringify(event)}\n`).join("");

test("events that somebody has changed are shown or refused", fuzzTimeout, async () => {
  const files = fc.oneof(
    changedBytes(Buffer.from(linesOf(shortRun))),
    changedJson(shortRun).map((events) =>
      Buffer.from(linesOf(Array.isArray(events) ? events : [events])),
    ),
  );
  let [read, drawn] = [0, 0];
  await fc.assert(
    fc.asyncProperty(files, async (bytes) => {
      writeFileSync(file, bytes);
      const isRefusal = (error: Error) => error instanceof ReportError && error.code === "NO_DATA";
      const result = await readOrRefuse(bytes.length, () => readRun(file, "made-up"), isRefusal);
      if (result === undefined) return;
      const charts = runFigures(result.run).filter(({ chart }) => chart !== null);
      // One of them: drawing takes longer than reading.
      const figure = charts[read++ % Math.max(1, charts.length)];
      if (figure === undefined || read % 5 > 0) return;
      drawn += elementsOf(serialise(drawFigure(figure, { document }))).length;
    }),
    fuzzParameters,
  );
  expect(read).toBeGreaterThan(fuzzCases / 2);
  expect(drawn).toBeGreaterThan(fuzzCases);
});
