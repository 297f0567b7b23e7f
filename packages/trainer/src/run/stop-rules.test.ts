import { expect, test } from "vitest";
import { createStopRules } from "./stop-rules.js";

const metrics = (first: number, third = 0) => ({
  cutoffs: [1, 3],
  rows: 10,
  rowsWithoutLabels: 0,
  precision: [first, third],
  ndcg: [0, 0],
  recall: [0, 0],
});

test("a run ends after so many evaluations in a row without a new best", () => {
  const { look, state } = createStopRules({ patience: { evaluations: 2 } }, [1, 3]);
  const seen = [0.1, 0.3, 0.3, 0.4, 0.2, 0.4].map((value) => look(metrics(value)));
  expect(seen).toEqual([null, null, null, null, null, "patience"]);
  expect(state()).toEqual({ best: 0.4, without: 2 });
});

test("an earlier part of the run counts", () => {
  const since = { best: 0.3, without: 1 };
  const patience = { evaluations: 2 };
  expect(createStopRules({ patience }, [1], since).look(metrics(0.2))).toBe("patience");
  const { look, state } = createStopRules({ patience }, [1], since);
  expect(look(metrics(0.4))).toBeNull();
  expect(state()).toEqual({ best: 0.4, without: 0 });
});

test("what has to get better is the target's metric, unless another is named", () => {
  const target = { metric: "P", k: 3, atLeast: 0.9 } as const;
  const byTarget = createStopRules({ target, patience: { evaluations: 1 } }, [1, 3]);
  expect([byTarget.look(metrics(0, 0.5)), byTarget.look(metrics(1, 0.4))]).toEqual([
    null,
    "patience",
  ]);
  const patience = { evaluations: 1, metric: { metric: "P", k: 1 } } as const;
  const byName = createStopRules({ target, patience }, [1, 3]);
  expect([byName.look(metrics(0, 0.5)), byName.look(metrics(1, 0.4))]).toEqual([null, null]);
  expect(byName.look(metrics(0, 0.9))).toBe("target");
});

test("what can't be looked at is refused", () => {
  const bad = expect.objectContaining({ code: "BAD_OPTION" });
  expect(() => createStopRules({ patience: { evaluations: 0 } }, [1])).toThrow(bad);
  expect(() =>
    createStopRules({ patience: { evaluations: 1, metric: { metric: "P", k: 7 } } }, [1]),
  ).toThrow(bad);
});
