/** Every algorithm as data, so that whoever runs them chooses by name and not by `if`. */
import { absSgdOptions } from "./abs-sgd/options.js";
import { absSgd } from "./abs-sgd/policy.js";
import { adaptiveHogbatch, adaptiveHogbatchOptions } from "./adaptive-hogbatch/policy.js";
import { adaptiveSgdOptions, fromValues } from "./adaptive-sgd/option-table.js";
import type { AdaptiveSgdValues } from "./adaptive-sgd/option-table.js";
import { adaptiveSgd } from "./adaptive-sgd/policy.js";
import { asyncSgd, asyncSgdOptions } from "./async-sgd/policy.js";
import { checkOption } from "./common/options.js";
import type { OptionInfo, OptionTable, OptionValue } from "./common/options.js";
import type { RunOptions } from "./common/run.js";
import type { DeviceInfo, Policy } from "./contract.js";
import { crossbow, crossbowOptions } from "./crossbow/policy.js";
import { easgd, easgdOptions } from "./easgd/policy.js";
import { elasticSgd, elasticSgdOptions } from "./elastic/policy.js";
import { requireOption } from "./errors.js";
import { hogbatch, hogbatchOptions } from "./hogbatch/policy.js";
import { hogwild, hogwildOptions } from "./hogwild/policy.js";
import { lbBsp, lbBspOptions } from "./lb-bsp/policy.js";
import { localSgd, localSgdOptions } from "./local-sgd/policy.js";
import type { MergeRule } from "./merge-rule.js";
import { ssp, sspOptions } from "./ssp/policy.js";
import { syncSgd, syncSgdOptions } from "./sync-sgd/policy.js";

/** What an algorithm is made from. */
export interface AlgorithmOptions extends RunOptions {
  /** Of those whose `needsMerge` says so. */
  readonly merge?: MergeRule;
  /** The algorithm's own options; null or left out: the default. */
  readonly own?: Readonly<Record<string, OptionValue>>;
}

export interface Algorithm {
  readonly title: string;
  /** One line. */
  readonly summary: string;
  /** The paper. */
  readonly source: string;
  /** "sgd": it adds gradients, so that no optimiser with a state can be used. */
  readonly optimizer: "any" | "sgd";
  /**
   * Whether devices change one model at the same time. Such a run cannot be repeated from its
   * events to the last bit.
   */
  readonly races: boolean;
  /** Whether replicas are merged by a rule that has to be given. */
  readonly needsMerge: boolean;
  /**
   * The parts that devices take in it: it is meant for a device of each, and has no use for others.
   * Empty: all devices are alike to it, whatever their role.
   */
  readonly roles: readonly NonNullable<DeviceInfo["role"]>[];
  /** Its own options; those of every algorithm are in `RunOptions`. */
  readonly options: Readonly<Record<string, OptionInfo>>;
  /**
   * @throws {@link SchedulerError} `INVALID_OPTION`, also for an option that it doesn't have.
   */
  create(options: AlgorithmOptions): Policy;
}

type Facts = Pick<Algorithm, "title" | "summary" | "source"> &
  Partial<Pick<Algorithm, "optimizer" | "races" | "needsMerge" | "roles">>;

/** By the name that its policy has. */
export const algorithms: Readonly<Record<string, Algorithm>> = {
  "adaptive-sgd": define(
    {
      title: "Adaptive SGD",
      summary: "Free devices take the next batch; sizes adapt; replicas are merged by weight.",
      source: "Ma, Rusu, Wu, Sim, arXiv 2110.07029",
      needsMerge: true,
    },
    adaptiveSgdOptions,
    (options: AdaptiveSgdValues & RunOptions, merge) => {
      requireOption(merge !== undefined, "merge", merge, "a merge rule");
      return adaptiveSgd(fromValues(options, merge));
    },
  ),
  "abs-sgd": define(
    {
      title: "ABS-SGD",
      summary: "Devices go on computing while their gradients, one update old, are averaged.",
      source: "Zhou, Chen, Wu, arXiv 2308.15164",
      optimizer: "sgd",
    },
    absSgdOptions,
    absSgd,
  ),
  hogbatch: define(
    {
      title: "CPU+GPU Hogbatch",
      summary: "Hosts step on one shared model row by row; accelerators add large batches to it.",
      source: "Ma, Rusu, arXiv 2004.08771",
      optimizer: "sgd",
      races: true,
      roles: ["host", "accelerator"],
    },
    hogbatchOptions,
    hogbatch,
  ),
  "adaptive-hogbatch": define(
    {
      title: "Adaptive Hogbatch",
      summary:
        "Hogbatch whose batches are sized until hosts and accelerators update equally often.",
      source: "Ma, Rusu, arXiv 2004.08771",
      optimizer: "sgd",
      races: true,
      roles: ["host", "accelerator"],
    },
    adaptiveHogbatchOptions,
    adaptiveHogbatch,
  ),
  hogwild: define(
    {
      title: "Hogwild",
      summary: "CPU threads step on one shared model without locks, one row at a time.",
      source: "Recht, Ré, Wright, Niu, Hogwild! (2011)",
      races: true,
      roles: ["host"],
    },
    hogwildOptions,
    hogwild,
  ),
  sync: define(
    {
      title: "Synchronous SGD",
      summary: "All devices compute a gradient on equal batches, wait, and take one common step.",
      source: "The baseline of arXiv 2110.07029 and 2308.15164",
      optimizer: "sgd",
    },
    syncSgdOptions,
    syncSgd,
  ),
  "lb-bsp": define(
    {
      title: "LB-BSP",
      summary: "Synchronous SGD with batches sized so that all devices arrive together.",
      source: "Chen et al., Semi-Dynamic Load Balancing (2020)",
      optimizer: "sgd",
    },
    lbBspOptions,
    lbBsp,
  ),
  elastic: define(
    {
      title: "Elastic SGD",
      summary: "Replicas make equally many steps, then are averaged; merges are far apart.",
      source: "The baseline of Ma, Rusu, Wu, Sim, arXiv 2110.07029",
    },
    elasticSgdOptions,
    elasticSgd,
  ),
  local: define(
    {
      title: "Local SGD",
      summary: "Replicas make a few steps, then are averaged.",
      source: "Stich, Local SGD Converges Fast and Communicates Little (2019)",
    },
    localSgdOptions,
    localSgd,
  ),
  easgd: define(
    {
      title: "EASGD",
      summary: "Replicas live on, tied to a centre by an elastic force.",
      source: "Zhang, Choromanska, LeCun, Deep Learning with Elastic Averaging SGD (2015)",
    },
    easgdOptions,
    easgd,
  ),
  crossbow: define(
    {
      title: "CROSSBOW",
      summary: "Replicas live on, corrected in each step towards a central model with momentum.",
      source: "Koliousis et al., CROSSBOW (2019)",
      optimizer: "sgd",
    },
    crossbowOptions,
    crossbow,
  ),
  async: define(
    {
      title: "Asynchronous SGD (ASP)",
      summary: "Each gradient is applied on arrival, however stale.",
      source: "The baseline of Zhou, Chen, Wu, arXiv 2308.15164",
      optimizer: "sgd",
      races: true,
    },
    asyncSgdOptions,
    asyncSgd,
  ),
  ssp: define(
    {
      title: "Stale synchronous parallel",
      summary: "Asynchronous, but no device gets more than so many steps ahead of the slowest.",
      source: "Ho et al., More Effective Distributed ML via SSP (2013)",
      optimizer: "sgd",
      races: true,
    },
    sspOptions,
    ssp,
  ),
};

function define<Options extends RunOptions>(
  { optimizer = "any", races = false, needsMerge = false, roles = [], ...facts }: Facts,
  table: OptionTable<Omit<Options, keyof RunOptions>>,
  create: (options: Options, merge: MergeRule | undefined) => Policy,
): Algorithm {
  const options = table as Readonly<Record<string, OptionInfo>>;
  return {
    ...facts,
    optimizer,
    races,
    needsMerge,
    roles,
    options,
    create: ({ merge, own = {}, ...run }) =>
      // What the table describes and has been checked against it is what the options are.
      create({ ...run, ...checkedValues(options, own) } as unknown as Options, merge),
  };
}

/** The values that are given, each known and within its range. */
function checkedValues(
  table: Readonly<Record<string, OptionInfo>>,
  own: Readonly<Record<string, OptionValue>>,
): Readonly<Record<string, OptionValue>> {
  const given = Object.entries(own).filter(([, value]) => value !== null);
  for (const [name, value] of given) {
    const info = Object.hasOwn(table, name) ? table[name] : undefined;
    const known = Object.keys(table).join(", ");
    requireOption(info !== undefined, name, value, `left out: the options are ${known}`);
    checkOption(name, info, value);
  }
  return Object.fromEntries(given);
}
