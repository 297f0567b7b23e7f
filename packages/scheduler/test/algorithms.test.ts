import { describe, expect, it } from "vitest";
import { algorithms } from "../src/index.js";
import type { AlgorithmOptions, DeviceInfo, OptionInfo } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import { byUpdates, checked } from "./support.js";

const run = { epochs: 2, schedule: { kind: "constant", rate: 0.01 }, merge: byUpdates } as const;
const entries = Object.entries(algorithms);
const invalid = expect.objectContaining({ code: "INVALID_OPTION" }) as Error;

/** A value of the wrong kind, and values just out of range. */
function wrongValues(info: OptionInfo): readonly (number | string | boolean)[] {
  switch (info.kind) {
    case "switch":
      return [1, "on"];
    case "choice":
      return ["nonsense", true];
    default: {
      const { min, max, above, below } = info;
      const beyond = [
        ...(min === undefined ? [] : [min - 1]),
        ...(max === undefined ? [] : [max + 1]),
        ...(above === undefined ? [] : [above]),
        ...(below === undefined ? [] : [below]),
      ];
      return ["12", Number.NaN, Infinity, ...(info.kind === "count" ? [1.5] : []), ...beyond];
    }
  }
}

describe("the list of algorithms", () => {
  it("has all of them", () => {
    expect(entries.map(([name]) => name)).toEqual([
      "adaptive-sgd",
      "abs-sgd",
      "hogbatch",
      "adaptive-hogbatch",
      "hogwild",
      "sync",
      "lb-bsp",
      "elastic",
      "local",
      "easgd",
      "crossbow",
      "async",
      "ssp",
    ]);
  });

  it.each(entries)(
    "makes %s by its name, from defaults alone, and it trains",
    (name, algorithm) => {
      const policy = algorithm.create({ ...run, own: {} });
      expect(policy.name).toBe(name);
      const devices = [1, 0.5].map((speed, id) => ({ id, speed, maxBatchRows: 10_000 }));
      const { reason, trained } = runFake(checked(policy), { devices, rows: 600, parameters: 2 });
      expect(reason).toBe("epochs");
      expect(new Set(trained).size).toBe(1200);
    },
  );

  it.each(entries)("%s takes devices of its roles, of all where it has none", (_, algorithm) => {
    const { roles } = algorithm;
    const all = ["host", "accelerator"] as const;
    const taken = all.filter((role) => {
      const devices: readonly DeviceInfo[] = [{ id: 0, maxBatchRows: 500, role }];
      try {
        algorithm.create(run).start({ devices, rows: 999, parameters: 2 });
        return true;
      } catch {
        return false;
      }
    });
    expect(taken).toEqual(roles.length === 0 ? all : roles);
  });

  it.each(entries)("describes %s in words for people", (_, { title, summary, source, options }) => {
    expect(title).toMatch(/^[A-Z]/);
    expect(summary).toMatch(/^[A-Z][^\n]{20,90}\.$/);
    expect(source).toMatch(/\d{4}/);
    for (const { help } of Object.values(options)) expect(help).toMatch(/^[A-Z][^\n]*[.)]$/);
  });

  it.each(entries)("takes the defaults of %s as values, and null for any", (_, algorithm) => {
    const values = Object.entries(algorithm.options).map(([name, info]) => [name, info.default]);
    const nothing = Object.keys(algorithm.options).map((name) => [name, null]);
    const devices: readonly DeviceInfo[] = [{ id: 0, maxBatchRows: 500 }];
    const start = (options: AlgorithmOptions) =>
      algorithm.create(options).start({ devices, rows: 999, parameters: 2 });
    const expected = start({ ...run });
    expect(start({ ...run, own: Object.fromEntries(values) })).toEqual(expected);
    expect(start({ ...run, own: Object.fromEntries(nothing) })).toEqual(expected);
  });

  it.each(entries)("refuses wrong values and unknown options of %s", (_, algorithm) => {
    for (const [option, info] of Object.entries(algorithm.options)) {
      for (const value of wrongValues(info)) {
        const create = () => algorithm.create({ ...run, own: { [option]: value } });
        expect(create, `${option} = ${value}`).toThrow(invalid);
      }
    }
    expect(() => algorithm.create({ ...run, own: { nonsense: 1 } })).toThrow(
      /The option nonsense is 1, but must be left out: the options are \w+/,
    );
    expect(() => algorithm.create({ ...run, own: { toString: 1 } })).toThrow(invalid);
    expect(() => algorithm.create({ ...run, epochs: 0 })).toThrow(invalid);
    expect(() => algorithm.create({ ...run, maxSteps: 1.5 })).toThrow(invalid);
  });

  it("gives accelerators of Hogbatch a sixteenth of few rows, and 8192 of many", () => {
    const devices: readonly DeviceInfo[] = [{ id: 0, maxBatchRows: 99_999, role: "accelerator" }];
    const first = (rows: number, own = {}) =>
      algorithms["hogbatch"]
        ?.create({ ...run, own })
        .start({ devices, rows, parameters: 2 })[1]
        .flatMap((command) => (command.type === "accumulate" ? command.rows : []));
    expect(first(1600)).toEqual([{ epoch: 0, start: 0, count: 100 }]);
    expect(first(1_000_000)).toEqual([{ epoch: 0, start: 0, count: 8192 }]);
    expect(first(1600, { acceleratorBatch: 500 })).toEqual([{ epoch: 0, start: 0, count: 500 }]);
  });

  it("refuses a largest batch below the mean of all in LB-BSP", () => {
    const create = (batchMax: number) => () =>
      algorithms["lb-bsp"]?.create({ ...run, own: { batch: 9, batchMax } });
    expect(create(8)).toThrow(/batchMax is 8, but must be at least batch, 9/);
    expect(create(9)).not.toThrow();
  });

  it("asks for a merge rule where one is needed", () => {
    const { epochs, schedule } = run;
    const without = entries.filter(([, algorithm]) => {
      try {
        algorithm.create({ epochs, schedule });
        return false;
      } catch {
        return true;
      }
    });
    const needing = entries.filter(([, { needsMerge }]) => needsMerge);
    expect(without).toEqual(needing);
    expect(needing.length).toBe(1);
  });

  it("says of which optimisers cannot be used: those that add gradients", () => {
    const devices: readonly DeviceInfo[] = [
      { id: 0, maxBatchRows: 5 },
      { id: 1, maxBatchRows: 5, role: "accelerator" },
    ];
    for (const [name, algorithm] of entries.filter(([id]) => id !== "hogwild")) {
      const models = algorithm.create(run).models(devices);
      const adds = models.some((model) => model.startsWith("gradient"));
      expect(algorithm.optimizer, name).toBe(adds ? "sgd" : "any");
    }
  });
});
