import { describe, expect, it } from "vitest";
import { adaptiveSgd } from "../src/index.js";
import type { AdaptiveSgdOptions, BatchScaling, MergeReport } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import { byUpdates, checked, commandsOf, mergeReports } from "./support.js";

const base = {
  epochs: 1,
  schedule: { kind: "constant", rate: 1 },
  merge: byUpdates,
} as const satisfies AdaptiveSgdOptions;

/** One epoch over devices of these speeds (rows a second). */
function train(
  speeds: readonly number[],
  rows: number,
  options: Partial<AdaptiveSgdOptions> = {},
  memory: readonly number[] = [],
) {
  const devices = speeds.map((speed, id) => ({ id, speed, maxBatchRows: memory[id] ?? 100_000 }));
  const policy = adaptiveSgd({ ...base, ...options });
  const result = runFake(policy, { devices, rows, parameters: 1 });
  return { ...result, merges: mergeReports(result.reports) };
}

function imbalance({ devices }: MergeReport): number {
  const updates = devices.map((device) => device.updates);
  return Math.max(...updates) - Math.min(...updates);
}

describe("two devices of which one is half as fast", () => {
  const megaBatches = [10, 25, 50, 100].map((batches) => batches * 256);
  const run = (megaBatchRows: number, batchScaling: BatchScaling) =>
    train([1, 0.5], megaBatchRows * 15, { batch: { max: 256 }, megaBatchRows, batchScaling })
      .merges;

  it.each(megaBatches)(
    "make equal numbers of updates within five mega-batches of %i rows under the relative rule",
    (megaBatchRows) => {
      const merges = run(megaBatchRows, { rule: "relative" });
      expect(imbalance(merges[0] as MergeReport)).toBeGreaterThan(1);
      for (const merge of merges.slice(4, 14)) expect(imbalance(merge)).toBeLessThanOrEqual(1);
      const [fast, slow] = merges[13]?.devices ?? [];
      expect(fast?.nextBatchRows).toBe(256);
      expect((slow?.nextBatchRows ?? 0) / 128).toBeCloseTo(1, 0);
    },
  );

  it("stay unequal under the proportional rule, which cannot take so large a step", () => {
    const merges = run(25_600, { rule: "proportional" });
    for (const merge of merges.slice(4, 14)) expect(imbalance(merge)).toBeGreaterThan(1);
    expect(merges[13]?.devices.map((device) => device.nextBatchRows)).toEqual([256, 256]);
  });

  it("keep their sizes if scaling is off, and count by their updates", () => {
    const merges = run(25_600, { rule: "off" });
    for (const { devices } of merges) {
      expect(devices.map((device) => device.nextBatchRows)).toEqual([256, 256]);
    }
    const [fast, slow] = merges[0]?.devices ?? [];
    expect([fast?.updates, slow?.updates]).toEqual([67, 33]);
    expect([fast?.weight, slow?.weight]).toEqual([0.67, 0.33]);
  });

  it("learn at rates in proportion to their batches", () => {
    const [fast, slow] = run(25_600, { rule: "relative" })[13]?.devices ?? [];
    expect(fast?.learningRate).toBe(1);
    expect(slow?.learningRate).toBe((slow?.batchRows ?? 0) / 256);
  });
});

describe("two devices of which one is half as fast, and half of a full step is fixed cost", () => {
  const merges = (throughput: number) => {
    const devices = [1, 0.5].map((speed, id) => ({
      id,
      speed,
      fixedRows: 256,
      maxBatchRows: 1000,
    }));
    const options = { batch: { max: 256 }, megaBatchRows: 25_600 };
    const batchScaling = { rule: "relative", throughput } as const;
    const policy = checked(adaptiveSgd({ ...base, ...options, batchScaling }));
    return mergeReports(runFake(policy, { devices, rows: 25_600 * 20, parameters: 1 }).reports);
  };
  const settled = (throughput: number) => merges(throughput).slice(10, 19);

  it("keep the slow one's throughput, and leave it fewer updates", () => {
    // b/(256 + b) = 0.9 · 256/512 at b = 209.5.
    for (const { devices } of settled(0.9)) {
      const [fast, slow] = devices;
      expect(fast?.batchRows).toBe(256);
      expect(slow?.batchRows).toBeGreaterThan(205);
      expect(slow?.batchRows).toBeLessThan(214);
      expect((slow?.updates ?? 0) / (fast?.updates ?? 1)).toBeCloseTo(256 / (209.5 + 256), 1);
    }
  });

  it("shrink the slow one to b_min without such a limit, as not even that makes updates equal", () => {
    for (const { devices } of settled(0)) expect(devices[1]?.batchRows).toBe(32);
  });
});

describe("devices of equal speed", () => {
  it.each(["relative", "proportional", "fixed"] as const)(
    "keep equal batches under the %s rule",
    (rule) => {
      const { merges } = train([2, 2, 2], 12_000, { batchScaling: { rule }, megaBatchRows: 2304 });
      expect(merges.length).toBeGreaterThan(4);
      // The epoch's last mega-batch is a remainder, which need not divide evenly.
      for (const { devices } of merges.slice(0, -1)) {
        expect(devices.map((device) => device.nextBatchRows)).toEqual([128, 128, 128]);
      }
    },
  );

  it("count alike", () => {
    const { merges } = train([2, 2], 2560, { megaBatchRows: 1280 });
    expect(merges[0]?.devices.map((device) => device.weight)).toEqual([0.5, 0.5]);
  });
});

describe("three devices, one of them far too slow for b_min", () => {
  it("settle with the slow one at b_min and the others at equal updates", () => {
    const { merges } = train([1, 0.6, 0.02], 12_800 * 12, { megaBatchRows: 12_800 });
    for (const { devices } of merges.slice(5, 11)) {
      const [fast, middle, slow] = devices;
      expect(Math.abs((fast?.updates ?? 0) - (middle?.updates ?? 0))).toBeLessThanOrEqual(1);
      expect(slow?.batchRows).toBe(16);
    }
  });

  it("never exceed what a device's memory holds", () => {
    const { commands, merges } = train([1, 1], 12_800, {}, [100_000, 10]);
    const small = commandsOf(commands, "step").filter((command) => command.device === 1);
    expect(Math.max(...small.flatMap(({ rows }) => rows.map(({ count }) => count)))).toBe(10);
    // Equal updates need equal batches; b_min is as far as the other goes for that.
    expect(merges.at(-2)?.devices.map((device) => device.nextBatchRows)).toEqual([16, 10]);
  });
});

describe("the end of a mega-batch", () => {
  it("gives a batch to idle devices only, once the rest can't give each a full one", () => {
    const { commands, events } = train([1, 0.25], 2560, {
      megaBatchRows: 2560,
      batchScaling: { rule: "off" },
    });
    const outstanding = [0, 0];
    const found: { near: boolean; queued: number | undefined }[] = [];
    let left = 2560;
    commands.forEach((issued, i) => {
      const event = events[i - 1];
      if (event?.type === "done") outstanding[event.device]!--;
      for (const { device } of commandsOf([issued], "step")) {
        found.push({ near: left < 256, queued: outstanding[device]! });
        outstanding[device]!++;
        left -= 128;
      }
    });
    expect(found.filter(({ near }) => near)).toEqual([{ near: true, queued: 0 }]);
    expect(found.filter(({ near }) => !near).map(({ queued }) => queued)).toContain(1);
  });

  it("takes min(100·b_max, ⌈N/4⌉) rows unless told otherwise", () => {
    expect(train([1], 1001, { batch: { max: 1 } }).merges[0]?.rows).toBe(100);
    expect(train([1], 1001, { batch: { max: 2 } }).merges[0]?.rows).toBe(200);
    expect(train([1], 1001, { batch: { max: 251 } }).merges[0]?.rows).toBe(251);
  });
});

describe("static dispatch", () => {
  it("gives every device the same number of batches, however slow, and the same rows at any speed", () => {
    const options = { dynamicDispatch: false, batchScaling: { rule: "off" } } as const;
    const given = (speeds: readonly number[]) => {
      const { commands, merges } = train(speeds, 5120, { ...options, megaBatchRows: 1200 });
      expect(merges.map(({ rows }) => rows)).toEqual([1280, 1280, 1280, 1280]);
      for (const { devices } of merges) {
        expect(devices.map(({ updates }) => updates)).toEqual([5, 5]);
      }
      const steps = commandsOf(commands, "step");
      return [0, 1].map((id) => steps.filter((step) => step.device === id));
    };
    expect(given([1, 0.1])).toEqual(given([1, 7]));
  });
});

describe("warm-up", () => {
  const run = (options: Partial<AdaptiveSgdOptions>) => {
    const devices = [1, 0.5].map((speed, id) => ({ id, speed, maxBatchRows: 99 }));
    const warm = { ...base, epochs: 3, batch: { max: 16, min: 2 }, warmupEpochs: 1 };
    const policy = checked(adaptiveSgd({ ...warm, ...options }));
    return runFake(policy, { devices, rows: 200, parameters: 1 });
  };

  it("trains small equal batches, merges at its end, then jumps to b_max", () => {
    const merges = mergeReports(run({ warmupBatch: 4, megaBatchRows: 120 }).reports);
    expect(merges.slice(0, 3).map(({ rows }) => rows)).toEqual([120, 80, 128]);
    for (const { devices } of merges.slice(0, 2)) {
      expect(devices.map((device) => device.batchRows)).toEqual([4, 4]);
      expect(devices.map((device) => device.nextBatchRows)).toEqual([16, 16]);
    }
    expect(merges[2]?.devices.map((device) => device.batchRows)).toEqual([16, 16]);
  });

  it("raises the learning rate linearly, from the first batch's share to the whole", () => {
    const steps = commandsOf(run({ warmupBatch: 4, scaleLearningRate: false }).commands, "step");
    const rates = steps.map(({ rows: [first], learningRate }) => {
      const { epoch = 0, start = 0, count = 0 } = first ?? {};
      expect(learningRate).toBeCloseTo(epoch > 0 ? 1 : (start + count) / 200, 12);
      return learningRate;
    });
    expect(rates[0]).toBe(4 / 200);
    expect(rates.at(-1)).toBe(1);
  });

  it("uses b_min unless a size is given", () => {
    expect(mergeReports(run({}).reports)[0]?.devices.map(({ batchRows }) => batchRows)).toEqual([
      2, 2,
    ]);
  });
});

describe("the last mega-batch of a run", () => {
  const last = (rows: number) =>
    train([1, 1], rows, { batch: { max: 10 }, megaBatchRows: 100 }).merges.map(
      (merge) => merge.rows,
    );

  it("takes along what would be less than half a mega-batch", () => {
    expect(last(310)).toEqual([100, 100, 110]);
    expect(last(349)).toEqual([100, 100, 149]);
  });

  it("stands by itself from half a mega-batch on", () => {
    expect(last(350)).toEqual([100, 100, 100, 50]);
    expect(last(40)).toEqual([40]);
  });
});
