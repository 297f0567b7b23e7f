/** What V8's sampling profiler has seen of one thread, and what that time went into. */

export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** As `Profiler.stop` returns it. Times are in microseconds of a clock that threads share. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  readonly startTime: number;
  /** By node. */
  readonly samples: readonly number[];
  /** Of each sample, to the one before it (the first: to the start). */
  readonly timeDeltas: readonly number[];
}

/** One sample: until the next one the thread is taken to have done the same. */
export interface Sample<Category> {
  /** Microseconds of the threads' common clock. */
  readonly at: number;
  readonly seconds: number;
  readonly category: Category;
}

/**
 * The samples of a profile, each with what its call stack means.
 *
 * @param categoryOf - told the stack from the outermost call to the innermost, once for each that
 *   occurs.
 */
export function samplesOf<Category>(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  categoryOf: (stack: readonly CallFrame[]) => Category,
): readonly Sample<Category>[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const categories = new Map<number, Category>();
  const visit = (id: number, above: readonly CallFrame[]): void => {
    const { callFrame, children = [] } = byId.get(id)!;
    const stack = [...above, callFrame];
    categories.set(id, categoryOf(stack));
    for (const child of children) visit(child, stack);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root.id, []);
  let at = startTime;
  return samples.map((id, i) => {
    at += timeDeltas[i]!;
    const seconds = Math.max(0, timeDeltas[i + 1] ?? 0) / 1e6;
    return { at, seconds, category: categories.get(id)! };
  });
}

/** Seconds by category, of the samples from one time to another. */
export function secondsByCategory<Category>(
  samples: readonly Sample<Category>[],
  from = -Infinity,
  to = Infinity,
): ReadonlyMap<Category, number> {
  const sums = new Map<Category, number>();
  for (const { at, seconds, category } of samples) {
    if (at >= from && at < to) sums.set(category, (sums.get(category) ?? 0) + seconds);
  }
  return sums;
}
