import type { RunEvent } from "@heterosgd/trainer";
import { expect, test } from "vitest";
import { countRows } from "./history.js";

const size = { rows: 4, epochs: 2 };
const starts = (type: "start" | "resume", devices: number, exact?: boolean) =>
  ({
    type,
    devices: Array.from({ length: devices }, (_, device) => ({ device })),
    ...(exact === undefined ? {} : { exact }),
  }) as unknown as RunEvent;
const done = (device: number, epoch: number, start: number, count: number) =>
  ({ type: "done", device, rows: [{ epoch, start, count }] }) as unknown as RunEvent;
const round = (rows: number) => ({ type: "round", rows }) as unknown as RunEvent;
const lost = (device: number) => ({ type: "lost", device }) as unknown as RunEvent;
const joined = (id: number) => ({ type: "joined", device: { id } }) as unknown as RunEvent;

test("a run that trains on each row of each epoch has lost and doubled none", () => {
  const events = [
    starts("start", 2),
    done(0, 0, 0, 3),
    done(1, 0, 3, 1),
    done(0, 1, 0, 4),
    round(8),
  ];
  expect(countRows(events, size)).toEqual({ lost: 0, doubled: 0 });
});

test("rows that nobody trained on are lost, whatever is reported", () => {
  const events = [starts("start", 1), done(0, 0, 0, 4), done(0, 1, 0, 2), round(8)];
  expect(countRows(events, size)).toEqual({ lost: 2, doubled: 0 });
});

test("rows that are not reported are lost, whoever trained on them", () => {
  const events = [starts("start", 1), done(0, 0, 0, 4), done(0, 1, 0, 4), round(5)];
  expect(countRows(events, size)).toEqual({ lost: 3, doubled: 0 });
});

test("rows that two devices trained on, or that are of no epoch of the run, are doubled", () => {
  const twice = [
    starts("start", 2),
    done(0, 0, 0, 4),
    done(1, 0, 2, 2),
    done(1, 1, 0, 4),
    round(8),
  ];
  expect(countRows(twice, size)).toEqual({ lost: 0, doubled: 2 });
  const more = [starts("start", 1), done(0, 0, 0, 4), done(0, 1, 0, 4), done(0, 2, 0, 1), round(8)];
  expect(countRows(more, size)).toEqual({ lost: 0, doubled: 1 });
});

test("rows of a lost device may be trained on again, but count once", () => {
  const events = [
    starts("start", 2),
    done(0, 0, 0, 2),
    done(1, 0, 2, 2),
    lost(1),
    joined(2),
    done(2, 0, 2, 2),
    done(2, 1, 0, 4),
  ];
  expect(countRows([...events, round(8)], size)).toEqual({ lost: 0, doubled: 0 });
  expect(countRows([...events, round(10)], size)).toEqual({ lost: 0, doubled: 2 });
  expect(countRows([...events, done(2, 0, 3, 1), round(8)], size)).toEqual({ lost: 0, doubled: 1 });
});

test("what was trained on before an exact resumption must not be again", () => {
  const events = (exact: boolean) => [
    starts("start", 1),
    done(0, 0, 0, 4),
    starts("resume", 1, exact),
    done(0, 0, 3, 1),
    done(0, 1, 0, 4),
    round(8),
  ];
  expect(countRows(events(true), size)).toEqual({ lost: 0, doubled: 1 });
  expect(countRows(events(false), size)).toEqual({ lost: 0, doubled: 0 });
});
