/** Every algorithm of the registry on the small run's rows, with sizes that go with them. */
import { normalizedMerge } from "@heterosgd/merge";
import { algorithms, type OptionValue, type Policy, type RunOptions } from "@heterosgd/scheduler";

interface Small {
  readonly devices: string;
  readonly rate: number;
  /** Default: 4. */
  readonly epochs?: number;
  readonly own: Readonly<Record<string, OptionValue>>;
}

const pair = "cpu,cpu@0.6";
const mixed = "cpu,cpu:role=accelerator@0.6";

export const small: Readonly<Record<string, Small>> = {
  "adaptive-sgd": { devices: pair, rate: 1, own: { batch: 32, megaBatch: 250 } },
  // On a busy machine its updates are few and of many rows.
  "abs-sgd": { devices: pair, rate: 2, epochs: 12, own: { microBatch: 8 } },
  hogbatch: { devices: mixed, rate: 0.1, own: { acceleratorBatch: 64, messageRows: 16 } },
  "adaptive-hogbatch": {
    devices: mixed,
    rate: 0.1,
    own: { hostMax: 8, acceleratorMin: 8, acceleratorMax: 32, messageRows: 16 },
  },
  hogwild: { devices: pair, rate: 0.1, own: { messageRows: 16 } },
  sync: { devices: pair, rate: 1, own: { batch: 16 } },
  "lb-bsp": { devices: pair, rate: 1, own: { batch: 16 } },
  elastic: { devices: pair, rate: 1, own: { batch: 16, mergeEvery: 4 } },
  local: { devices: pair, rate: 1, own: { batch: 16, localSteps: 3 } },
  easgd: { devices: pair, rate: 1, own: { batch: 16, mergeEvery: 4 } },
  crossbow: { devices: pair, rate: 0.5, own: { batch: 16 } },
  async: { devices: pair, rate: 0.5, own: { batch: 16 } },
  ssp: { devices: pair, rate: 0.5, own: { batch: 16, staleness: 1 } },
};

export const names = Object.keys(algorithms);
/** Those whose parameters don't depend on who is first to change them. */
export const raceFree = names.filter((name) => algorithms[name]?.races === false);

export const epochsOf = (name: string) => small[name]!.epochs ?? 4;

export function smallPolicy(
  name: string,
  { rate = small[name]!.rate, ...run }: Partial<RunOptions> & { readonly rate?: number } = {},
): Policy {
  const algorithm = algorithms[name]!;
  return algorithm.create({
    epochs: epochsOf(name),
    schedule: { kind: "inverse", rate, decay: 0.1 },
    own: small[name]!.own,
    ...(algorithm.needsMerge ? { merge: normalizedMerge({ momentum: 0.3 }) } : {}),
    ...run,
  });
}
