/**
 * The algorithms of rounds, computed a second time: straight from their formulas, without any
 * policy, device or command.
 */
import { describe, expect, it } from "vitest";
import { crossbow, easgd, elasticSgd, lbBsp, localSgd, syncSgd } from "../src/index.js";
import type { Policy, RowRange } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import { checked } from "./support.js";
import { gradient, initial, plus } from "./toy-model.js";

const rows = 50;
const epochs = 3;
const batch = 4;
const devices = [1, 0.4, 0.7].map((speed, id) => ({ id, speed, maxBatchRows: 64 }));
const n = devices.length;
const run = { epochs, schedule: { kind: "inverse", rate: 0.2, decay: 0.5 } } as const;
const rateAt = (t: number) => 0.2 / (1 + 0.5 * t);

type Vector = readonly number[];

/** Global models, one a round. */
function modelsOf<State>(policy: Policy<State>): readonly Vector[] {
  const result = runFake(checked(policy), { devices, rows, parameters: 2 });
  expect(result.reason).toBe("epochs");
  return result.trajectory.filter((_, i) =>
    result.commands[i]?.some(({ type }) => type === "rotate"),
  );
}

/** The largest difference of a parameter; NaN if the numbers of models differ. */
function distance(actual: readonly Vector[], expected: readonly Vector[]): number {
  if (actual.length !== expected.length) return Number.NaN;
  const differences = actual.flatMap((w, round) =>
    w.map((value, k) => Math.abs(value - (expected[round]?.[k] ?? Number.NaN))),
  );
  return Math.max(...differences);
}

/** One batch for each device, in turn; what is left of an epoch is split as evenly as can be. */
function turns(): readonly (readonly RowRange[])[] {
  const all: RowRange[][] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let start = 0; start < rows;) {
      const count = Math.min(rows - start, n * batch);
      const turn: RowRange[] = [];
      for (let i = 0; i < n; i++) {
        const share = Math.floor(count / n) + (i < count % n ? 1 : 0);
        turn.push({ epoch, start, count: share });
        start += share;
      }
      all.push(turn);
    }
  }
  return all;
}

const time = ({ epoch, start }: RowRange) => epoch + start / rows;
const first = (turn: readonly RowRange[]) => turn[0] as RowRange;
const mean = (models: readonly Vector[]) =>
  plus([0, 0], ...models.map((w) => [1 / models.length, w] as const));

/** w − η/b · Σ∇ℓ(w; rows). */
const step = (w: Vector, range: RowRange) =>
  plus(w, [-rateAt(time(range)) / batch, gradient([range], w)]);

/** The turns in groups of so many, as rounds. */
function inRounds(size: number): readonly (readonly (readonly RowRange[])[])[] {
  const all = turns();
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
    all.slice(i * size, (i + 1) * size),
  );
}

function averaged(size: number): readonly Vector[] {
  let w = initial.w;
  return inRounds(size).map((round) => {
    const trained = devices.filter((_, i) => round.some((turn) => (turn[i]?.count ?? 0) > 0));
    const replicas = trained.map(({ id }) =>
      round.reduce((model, turn) => step(model, turn[id] as RowRange), w),
    );
    w = mean(replicas);
    return w;
  });
}

describe("the global model, round by round, is what the formulas say, for", () => {
  const synchronous = () => {
    let w = initial.w;
    return turns().map((turn) => {
      w = plus(w, [-rateAt(time(first(turn))) / (n * batch), gradient(turn, w)]);
      return w;
    });
  };

  it("sync: w − η · mean gradient", () => {
    expect(distance(modelsOf(syncSgd({ ...run, batch })), synchronous())).toBeLessThan(1e-11);
  });

  it("LB-BSP: the same, however its batches are divided", () => {
    expect(distance(modelsOf(lbBsp({ ...run, batch })), synchronous())).toBeLessThan(1e-11);
  });

  it("elastic: the mean of replicas that made τ steps", () => {
    expect(
      distance(modelsOf(elasticSgd({ ...run, batch, mergeEvery: 3 })), averaged(3)),
    ).toBeLessThan(1e-11);
  });

  it("elastic: τ such that a mega-batch is a quarter of the rows", () => {
    // ⌈50/4⌉ = 13 rows are one batch of four rows each.
    expect(distance(modelsOf(elasticSgd({ ...run, batch })), averaged(1))).toBeLessThan(1e-11);
  });

  it("local: the mean of replicas that made K steps", () => {
    expect(
      distance(modelsOf(localSgd({ ...run, batch, localSteps: 4 })), averaged(4)),
    ).toBeLessThan(1e-11);
  });

  it("EASGD: a centre that elastic forces pull, with the replicas' memory", () => {
    const alpha = 0.6 / n;
    let centre = initial.w;
    let replicas = devices.map(() => centre);
    const expected = inRounds(2).map((round) => {
      replicas = replicas.map((x, i) =>
        round.reduce((model, turn) => step(model, turn[i] as RowRange), x),
      );
      const forces = replicas.map((x) => plus([0, 0], [alpha, x], [-alpha, centre]));
      replicas = replicas.map((x, i) => plus(x, [-1, forces[i] as Vector]));
      centre = plus(centre, ...forces.map((force) => [1, force] as const));
      return centre;
    });
    expect(
      distance(modelsOf(easgd({ ...run, batch, mergeEvery: 2, elasticity: 0.6 })), expected),
    ).toBeLessThan(1e-11);
  });

  it.each([null, 0.1])("CROSSBOW: corrections and momentum, with α %s", (correction) => {
    const alpha = correction ?? 1 / n;
    const mu = 0.7;
    let z = initial.w;
    let before = z;
    let replicas = devices.map(() => z);
    // The last round has no gradients.
    const expected = [...turns(), null].map((turn, round) => {
      const corrections = replicas.map((w) => plus([0, 0], [alpha, w], [-alpha, z]));
      replicas = replicas.map((w, i) => {
        const range = turn?.[i];
        const rate = rateAt(time(first(turn ?? [{ epoch: 0, start: 0, count: 1 }])));
        const gradients = range === undefined ? [0, 0] : gradient([range], w);
        return plus(w, [-rate / batch, gradients], [-1, corrections[i] as Vector]);
      });
      const momentum = round === 0 ? 0 : mu;
      const next = plus(
        z,
        ...corrections.map((c) => [1, c] as const),
        [momentum, z],
        [-momentum, before],
      );
      before = z;
      z = next;
      return z;
    });
    const options = correction === null ? {} : { correction };
    expect(
      distance(modelsOf(crossbow({ ...run, batch, momentum: mu, ...options })), expected),
    ).toBeLessThan(1e-11);
  });

  it("CROSSBOW: replicas that restart at z when the learning rate drops", () => {
    const halving = { kind: "step", rate: 0.2, everyEpochs: 1, factor: 0.5 } as const;
    let z = initial.w;
    let before = z;
    let replicas = devices.map(() => z);
    let epoch = 0;
    let fresh = true;
    const expected = [...turns(), null].map((turn) => {
      if (turn !== null && first(turn).epoch > epoch) {
        epoch = first(turn).epoch;
        replicas = devices.map(() => z);
        fresh = true;
      }
      const corrections = replicas.map((w) => plus([0, 0], [1 / n, w], [-1 / n, z]));
      replicas = replicas.map((w, i) => {
        const range = turn?.[i];
        const gradients = range === undefined ? [0, 0] : gradient([range], w);
        return plus(w, [-(0.2 * 0.5 ** epoch) / batch, gradients], [-1, corrections[i] as Vector]);
      });
      const mu = fresh ? 0 : 0.9;
      fresh = false;
      const next = plus(z, ...corrections.map((c) => [1, c] as const), [mu, z], [-mu, before]);
      before = z;
      z = next;
      return z;
    });
    expect(
      distance(modelsOf(crossbow({ epochs, schedule: halving, batch })), expected),
    ).toBeLessThan(1e-11);
  });
});
