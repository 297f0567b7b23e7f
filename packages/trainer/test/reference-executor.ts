import {
  createNetwork,
  createPlainKernels,
  initialise,
  optimizerStateArrays,
  parameterLayout,
  rowNorm,
  type FlatGradientTarget,
} from "@heterosgd/model";
import type { ModelName, PolicyEvent, RowRange, Term } from "@heterosgd/scheduler";
import { createBatchBuffers, fillPermutation, gatherBatch } from "@heterosgd/sparse";
import type { ExecutableCommand, Executor } from "../src/coordinator/executor.js";
import { batchLimits } from "../src/run/batch-limits.js";
import type { TrainOptions } from "../src/index.js";

type Doubles = Float64Array<ArrayBuffer>;

interface Model {
  readonly parameters: Doubles;
  readonly state: readonly Doubles[];
  updates: number;
}

const double = (length: number) => new Float64Array(length);

/**
 * The contract in as few words as possible: one thread, in float64, each command at once. A policy
 * whose commands don't depend on who answers first must come to the same model on real devices.
 */
export function referenceExecutor(
  options: Pick<TrainOptions, "train" | "shape" | "rule" | "policy" | "seed">,
): Executor & { global(): Doubles } {
  const { train, shape, rule, policy, seed } = options;
  const layout = parameterLayout(shape);
  const network = createNetwork(createPlainKernels({ allocate: double }), layout, {
    maxRows: policy.maxBatchRows,
  });
  const batch = createBatchBuffers(batchLimits(policy.maxBatchRows, [train]));
  const models = new Map<ModelName, Model>();
  const events: PolicyEvent[] = [];

  function model(name: ModelName): Model {
    let found = models.get(name);
    if (found === undefined) {
      const state = Array.from({ length: optimizerStateArrays(rule) }, () => double(layout.length));
      found = { parameters: double(layout.length), state, updates: 0 };
      models.set(name, found);
    }
    return found;
  }

  function fill(ranges: readonly RowRange[], from: number, count: number): void {
    const rows = ranges.flatMap(({ epoch, start, count: length }) => {
      const order = new Uint32Array(train.rows);
      fillPermutation(order, seed, epoch);
      return [...order.subarray(start, start + length)];
    });
    gatherBatch(train, Uint32Array.from(rows), from, count, batch);
  }

  function blend(target: Doubles, sources: readonly Doubles[], terms: readonly Term[]) {
    const sum = target.map((_, i) =>
      terms.reduce((total, { coefficient }, term) => total + coefficient * sources[term]![i]!, 0),
    );
    target.set(sum);
  }

  async function execute(command: ExecutableCommand): Promise<void> {
    switch (command.type) {
      case "step": {
        const { device, rows, learningRate } = command;
        const total = rows.reduce((sum, { count }) => sum + count, 0);
        const size = command.microBatchRows ?? total;
        const it = model(command.model);
        for (let from = 0; from < total; from += size) {
          const count = Math.min(size, total - from);
          fill(rows, from, count);
          it.updates++;
          const target: FlatGradientTarget<Doubles> =
            rule === null
              ? { kind: "add", target: it.parameters, scale: -learningRate / count }
              : {
                  kind: "rule",
                  target: it.parameters,
                  scale: 1 / count,
                  rule,
                  learningRate,
                  step: it.updates,
                  state: it.state,
                };
          await network.train(batch, count, it.parameters, target);
        }
        events.push({ type: "done", device, rows, nonZeros: 0, seconds: 0, loss: 0 });
        return;
      }
      case "accumulate": {
        const { device, rows } = command;
        const into = model(command.into);
        if (command.reset === true) Object.assign(into, { updates: 0 }).parameters.fill(0);
        const count = rows.reduce((sum, range) => sum + range.count, 0);
        fill(rows, 0, count);
        into.updates++;
        const target = { kind: "add", target: into.parameters, scale: 1 } as const;
        await network.train(batch, count, model(command.model).parameters, target);
        events.push({ type: "done", device, rows, nonZeros: 0, seconds: 0, loss: 0 });
        return;
      }
      case "pull": {
        const replica = model(`replica:${command.device}`);
        const global = model("global");
        replica.parameters.set(global.parameters);
        replica.state.forEach((array, i) => array.set(global.state[i]!));
        replica.updates = global.updates;
        return;
      }
      case "push":
        events.push({ type: "pushed", device: command.device, norm: null });
        return;
      case "apply": {
        const source = model(command.source);
        const target = model(command.target);
        source.parameters.forEach((value, i) => (target.parameters[i]! += command.scale * value));
        target.updates += source.updates;
        source.updates = 0;
        source.parameters.fill(0);
        events.push({ type: "applied", device: command.device });
        return;
      }
      case "blend": {
        const target = model(command.target);
        const of = (terms: readonly Term[]) => terms.map((term) => model(term.model));
        const updates = of(command.stateTerms).map((term) => term.updates);
        blend(
          target.parameters,
          of(command.terms).map((term) => term.parameters),
          command.terms,
        );
        for (const [i, array] of target.state.entries()) {
          blend(
            array,
            of(command.stateTerms).map((term) => term.state[i]!),
            command.stateTerms,
          );
        }
        if (updates.length > 0) target.updates = Math.max(...updates);
        events.push({ type: "blended", id: command.id });
        return;
      }
      case "rotate": {
        const old = command.names.map(model);
        command.names.forEach((name, i) => models.set(name, old[(i + 1) % old.length]!));
        return;
      }
      case "evaluate":
        events.push({ type: "evaluated", id: command.id });
        return;
      case "checkpoint":
        events.push({ type: "checkpointed" });
    }
  }

  const initial = new Float32Array(layout.length);
  initialise(layout, initial, seed, { rowNorm: rowNorm(train.features), scale: 1 });
  model("global").parameters.set(initial);

  let tail = Promise.resolve();
  return {
    execute: (command) => void (tail = tail.then(() => execute(command))),
    async next() {
      await tail;
      const event = events.shift();
      if (event === undefined) throw new Error("nothing is left to answer");
      return event;
    },
    global: () => model("global").parameters,
  };
}
