/** What a report shows of a run: plain data of bounded size, made from its events. */
import type { Sample } from "./thinned.js";

/** One evaluation of the global model. Entry `i` of each list belongs to `cutoffs[i]`. */
export interface Evaluation {
  /** Seconds since training began, simulated where the run is. */
  readonly at: number;
  /** Training rows done until then. */
  readonly rows: number;
  readonly cutoffs: readonly number[];
  /** P@k, 0 to 1. */
  readonly precision: readonly number[];
  readonly ndcg: readonly number[];
}

/** Where a device's time went, in seconds. */
export interface Usage {
  readonly training: number;
  readonly merging: number;
  readonly evaluating: number;
  readonly waiting: number;
}

/** What became of a device. */
export interface DeviceSeries {
  readonly name: string;
  /** As the kernels name themselves; empty where nobody has said. */
  readonly kernels: string;
  readonly rows: number;
  /** Updates of its that are in the model, as the algorithm counts them. */
  readonly updates: number;
  /** Seconds that it was busy training. */
  readonly busySeconds: number;
  /** Seconds from when to when it was there. */
  readonly from: number;
  readonly to: number;
  /** Rows of a batch from a time on. */
  readonly batchRows: readonly Sample[];
  /** Updates in the round or mega-batch that ended at a time. */
  readonly roundUpdates: readonly Sample[];
  /** Merge weight, 0 to 1; none where updates are not weighed. */
  readonly weights: readonly Sample[];
  /** Updates of the model that its gradients were late by; none where nobody can tell. */
  readonly staleness: readonly Sample[];
  /** Mean of that over its updates; null where nobody can tell. */
  readonly meanStaleness: number | null;
  /** Share of the time, 0 to 1, that it trained in the seconds from `i · width` on. */
  readonly busy: { readonly width: number; readonly shares: readonly number[] };
  /** Null before the end of the run, and where the device never answered. */
  readonly usage: Usage | null;
  /** Why it was lost; null if it was not. */
  readonly lost: string | null;
}

/** Something that happened at a time and belongs on every time axis. */
export interface Mark {
  readonly at: number;
  readonly kind: "joined" | "lost" | "resumed" | "diverged";
  readonly text: string;
}

/** What a simulated run's times come from. */
export interface SimulatedBy {
  readonly profile: string;
  /** Whether the profile's numbers were measured; else they are assumptions. */
  readonly measured: boolean;
}

export interface RunSeries {
  /** What charts call the run. */
  readonly name: string;
  readonly algorithm: string;
  readonly seed: number | null;
  /** Null if the times are real. */
  readonly simulated: SimulatedBy | null;
  /** Such as "22,758-128-1,000, relu, softmax"; empty where nobody has said. */
  readonly network: string;
  readonly trainRows: number;
  readonly evaluationRows: number;
  readonly parameters: number;
  /** Seconds of training. */
  readonly seconds: number;
  readonly rows: number;
  /** Merges and rounds. */
  readonly rounds: number;
  /** Why the run ended; null while it goes on, or if it was broken off. */
  readonly reason: string | null;
  readonly evaluations: readonly Evaluation[];
  /** Mean training loss a row in a short part of the time around `at`. */
  readonly loss: readonly Sample[];
  readonly devices: readonly DeviceSeries[];
  readonly marks: readonly Mark[];
  /** Seconds at which the last part of a resumed run began, 0 for others: `usage` is of that part. */
  readonly usageSince: number;
}
