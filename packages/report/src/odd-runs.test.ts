/** Events of anybody's, and runs of which most is missing: a page of bounded size, or no charts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { elementsOf, seriesOf } from "../test/figures.js";
import { done, evaluation, merge, startEvent } from "../test/made-up-run.js";
import { drawFigure } from "./draw/draw-figure.js";
import { serialise } from "./draw/serialise.js";
import { comparisonFigures } from "./figures/comparison-figures.js";
import { runFigures } from "./figures/run-figures.js";
import { createDocument } from "./files/document.js";
import { pageHtml } from "./page/page.js";
import { runSection } from "./page/run-section.js";
import { contestantsOf } from "./series/contestants.js";

const document = createDocument();

/** Draws everything, and checks what must hold of every drawing. */
function drawAll(events: readonly unknown[]): number {
  const run = seriesOf(events);
  const figures = [...runFigures(run), ...comparisonFigures(contestantsOf([run, run]))];
  for (const figure of figures) {
    if (figure.chart === null) continue;
    for (const width of [720, 340]) {
      const text = serialise(drawFigure(figure, { document, width }));
      expect(elementsOf(text).length).toBeGreaterThan(1);
      expect(text, figure.id).not.toMatch(/NaN|undefined|Infinity/);
    }
    expect(figure.table.rows.length).toBeLessThanOrEqual(2000);
  }
  const html = pageHtml({ title: "odd", sections: [runSection(run)], notes: [] }, document);
  expect(html.length).toBeLessThan(3_000_000);
  return figures.length;
}

const number = fc.oneof(
  fc.double({ noNaN: true, min: 0, max: 1e4 }),
  fc.constantFrom(0, 1, -1, 1e-9, 1e308, null),
);
const device = fc.integer({ min: 0, max: 3 });
const at = fc.double({ noNaN: true, min: 10, max: 1e5 });

const lost = fc.record({ at, type: fc.constant("lost"), device, reason: fc.string() });
const joined = fc.record({
  at,
  type: fc.constant("joined"),
  device: fc.record({ id: fc.integer({ min: 2, max: 5 }) }),
  name: fc.string(),
});
const batch = fc
  .tuple(at, device, fc.nat(500), number, number)
  .map(([when, id, rows, seconds, loss]) => done(when, id, rows, seconds as number, loss));
const round = fc
  .tuple(at, fc.array(fc.tuple(number, number, number, number), { maxLength: 4 }))
  .map(([when, parts]) => merge(when, parts as never));
const evaluated = fc
  .tuple(at, fc.nat(1e6), fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }))
  .map(([when, rows, precision]) => evaluation(when, rows, precision));
const end = fc.record({
  at,
  type: fc.constant("end"),
  reason: fc.string(),
  devices: fc.array(
    fc.record({ device, usage: fc.option(fc.record({ training: number, waiting: number })) }),
  ),
});

test("runs of whatever happens can be drawn", () => {
  const events = fc.array(fc.oneof(batch, round, evaluated, lost, joined, end), { maxLength: 40 });
  fc.assert(
    fc.property(events, (told) => {
      const sorted = told.toSorted((a, b) => Number(a.at) - Number(b.at));
      expect(drawAll([startEvent, ...sorted])).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 40 },
  );
});

test("events of any shape can be drawn", () => {
  const type = fc.constantFrom(
    "start",
    "resume",
    "done",
    "merge",
    "round",
    "evaluation",
    "joined",
    "lost",
    "end",
  );
  const event = fc.tuple(
    type,
    at,
    fc.dictionary(
      fc.constantFrom(
        "devices",
        "device",
        "rows",
        "metrics",
        "loss",
        "seconds",
        "shape",
        "simulated",
        "reason",
      ),
      fc.jsonValue(),
    ),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (told) => {
      const events = told.map(([kind, when, members]) => ({ ...members, at: when, type: kind }));
      expect(drawAll(events)).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 100 },
  );
});

test.each([
  ["no evaluation", [startEvent, done(11, 0, 10, 1, 5), merge(11, [[8, 8, 1, 1]])]],
  [
    "one device",
    [{ ...startEvent, devices: [{ device: 0, name: "only" }] }, done(11, 0, 10, 1, 5)],
  ],
  [
    "a lost device",
    [startEvent, { at: 10, type: "lost", device: 1, reason: "" }, done(11, 0, 9, 1, 5)],
  ],
  ["losses that are not finite", [startEvent, done(11, 0, 10, 1, null), done(12, 1, 10, 1, NaN)]],
  ["one evaluation at the start", [startEvent, evaluation(10, 0, [0]), done(10, 0, 1, 0, 1)]],
  [
    "equal values all along",
    [startEvent, evaluation(11, 1, [0.5]), evaluation(12, 2, [0.5]), done(12, 0, 1, 1, 0)],
  ],
])("a run with %s can be drawn", (_, events) => {
  expect(drawAll(events)).toBeGreaterThan(0);
});

test("a run of zero rounds has no charts, and a page all the same", () => {
  expect(drawAll([startEvent, { at: 10, type: "end", reason: "signal", devices: [] }])).toBe(0);
});

test("a run of a thousand devices has a page of bounded size", () => {
  const devices = Array.from({ length: 1024 }, (_, id) => ({
    device: id,
    name: `device ${id}`,
    kernels: "wasm",
  }));
  const parts = devices.map(() => [8, 8, 1, 1 / 1024] as const);
  const events = Array.from({ length: 30 }, (_, i) => [
    done(11 + i, i, 8, 1, 8),
    merge(11 + i, parts),
  ]);
  expect(drawAll([{ ...startEvent, devices }, ...events.flat()])).toBeGreaterThan(0);
});
