/** How each algorithm is run where faults are injected: so that a short run has something of everything. */

interface AlgorithmRun {
  /** Of `heterosgd train`, with a space between them. */
  readonly options: string;
  readonly epochs: number;
  /** Whether devices have roles. */
  readonly hasRoles?: boolean;
}

const runs: Readonly<Record<string, AlgorithmRun>> = {
  "adaptive-sgd": { options: "--batch 16 --mega-batch 150", epochs: 4 },
  // On a busy machine its updates are few and of many rows.
  "abs-sgd": { options: "--micro-batch 4", epochs: 8 },
  hogbatch: {
    options: "--accelerator-batch 32 --message-rows 16 --learning-rate 0.1",
    epochs: 4,
    hasRoles: true,
  },
  "adaptive-hogbatch": {
    options:
      "--host-max 8 --accelerator-min 8 --accelerator-max 32 --message-rows 16 --learning-rate 0.1",
    epochs: 4,
    hasRoles: true,
  },
  hogwild: { options: "--message-rows 16 --learning-rate 0.1", epochs: 4 },
  sync: { options: "--batch 16", epochs: 4 },
  "lb-bsp": { options: "--batch 16", epochs: 4 },
  elastic: { options: "--batch 16 --merge-every 4", epochs: 4 },
  local: { options: "--batch 16 --local-steps 3", epochs: 4 },
  easgd: { options: "--batch 16 --merge-every 4", epochs: 4 },
  crossbow: { options: "--batch 16", epochs: 4 },
  async: { options: "--batch 16", epochs: 4 },
  ssp: { options: "--batch 16 --staleness 1", epochs: 4 },
};

export const algorithmNames: readonly string[] = Object.keys(runs);

/** Options of `heterosgd train` that say how an algorithm trains. */
export function optionsOf(algorithm: string): readonly string[] {
  const { options } = runs[algorithm]!;
  const rate = options.includes("--learning-rate") ? "" : "--learning-rate 0.5 ";
  const common = "--optimizer sgd --schedule constant --hidden 24 --evaluate-every epoch";
  return `--algorithm ${algorithm} ${common} ${rate}${options}`.split(" ");
}

export const epochsOf = (algorithm: string) => runs[algorithm]!.epochs;

/** So many unequal devices, as `heterosgd train` takes them. */
export function devicesOf(algorithm: string, count: number): string {
  const second = runs[algorithm]!.hasRoles === true ? "cpu:role=accelerator" : "cpu@0.6";
  return ["cpu", second, "cpu@0.8"].slice(0, count).join(",");
}
