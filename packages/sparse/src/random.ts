/** A repeatable source of random numbers. */
export interface Random {
  /** A whole number from 0 to 2³² − 1. */
  nextUint32(): number;
  /** A number from 0 (inclusive) to 1 (exclusive), a multiple of 2⁻⁵³. */
  nextFloat(): number;
  /** A whole number from 0 to `bound − 1`, each equally likely; `bound` is at most 2³². */
  nextBelow(bound: number): number;
  /** A number from the normal distribution of mean 0 and variance 1. */
  nextGaussian(): number;
  /** What `restoreRandom` needs to go on from here: four whole numbers. */
  state(): readonly number[];
}

const WORD = 2 ** 32;

/** One step of splitmix32: spreads a word over 32 bits. */
function splitmix32(word: number): number {
  let z = (word + 0x9e3779b9) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return z ^ (z >>> 15);
}

/**
 * Random numbers (xoshiro128**) for a seed. Whole numbers in `stream` tell apart uses of one seed:
 * other numbers, an independent sequence.
 *
 * The same arguments give the same numbers on every machine; `nextGaussian` alone depends on the
 * JavaScript engine's logarithm and cosine.
 *
 * @param seed - a whole number from −2⁵³ to 2⁵³, as are the stream's.
 */
export function createRandom(seed: number, ...stream: readonly number[]): Random {
  let hash = 0;
  for (const word of [seed, ...stream]) {
    if (!Number.isSafeInteger(word)) {
      throw new RangeError(`seed and stream must be whole numbers within 2^53, received ${word}`);
    }
    hash = splitmix32(hash ^ word);
    hash = splitmix32(hash ^ Math.floor(word / WORD));
  }
  const state: number[] = [];
  for (let i = 0; i < 4; i++) {
    hash = splitmix32(hash);
    state.push(hash >>> 0);
  }
  return restoreRandom(state);
}

/** The random numbers that follow on a `state()`. */
export function restoreRandom(state: readonly number[]): Random {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  if (state.length !== 4 || !(a | b | c | d)) {
    throw new RangeError("the state of random numbers is four whole numbers, not all zero");
  }

  function nextUint32(): number {
    const mixed = Math.imul(b, 5);
    const result = Math.imul((mixed << 7) | (mixed >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  }

  function nextFloat(): number {
    const high = nextUint32() >>> 5;
    return (high * 2 ** 26 + (nextUint32() >>> 6)) / 2 ** 53;
  }

  return {
    nextUint32,
    nextFloat,
    nextBelow(bound) {
      if (!Number.isInteger(bound) || bound < 1 || bound > WORD) {
        throw new RangeError(`bound must be a whole number from 1 to 2^32, received ${bound}`);
      }
      // Words from the last, incomplete run of `bound` numbers would favour the low ones.
      const limit = WORD - (WORD % bound);
      let word = nextUint32();
      while (word >= limit) word = nextUint32();
      return word % bound;
    },
    nextGaussian() {
      const radius = Math.sqrt(-2 * Math.log(1 - nextFloat()));
      return radius * Math.cos(2 * Math.PI * nextFloat());
    },
    state: () => [a >>> 0, b >>> 0, c >>> 0, d >>> 0],
  };
}

/** Streams of this package, so that a seed's permutation and its split have nothing in common. */
const PERMUTATION_STREAM = 1;
const SPLIT_STREAM = 2;

/**
 * Fills `target` with the numbers 0 to `length − 1` in random order, every order equally likely.
 * The order depends on the seed, the epoch and the length alone.
 */
export function fillPermutation(target: Uint32Array, seed: number, epoch: number): void {
  shuffle(target, createRandom(seed, PERMUTATION_STREAM, epoch));
}

/** Fisher and Yates's shuffle, inside out: it needs no pass to write the numbers first. */
function shuffle(target: Uint32Array, random: Random): void {
  for (let i = 0; i < target.length; i++) {
    const j = random.nextBelow(i + 1);
    target[i] = target[j]!;
    target[j] = i;
  }
}

/** Row numbers of two parts, each ascending. */
export interface RowSplit {
  readonly train: Uint32Array;
  readonly test: Uint32Array;
}

/**
 * Divides rows 0 to `rows − 1` at random. Which rows go where depends on the arguments alone.
 *
 * @param options.testFraction - from 0 to 1; the number of test rows is rounded.
 */
export function splitRows(
  rows: number,
  options: { readonly testFraction: number; readonly seed: number },
): RowSplit {
  const { testFraction, seed } = options;
  if (!(testFraction >= 0 && testFraction <= 1)) {
    throw new RangeError(`testFraction must be from 0 to 1, received ${testFraction}`);
  }
  const order = new Uint32Array(rows);
  shuffle(order, createRandom(seed, SPLIT_STREAM));
  const testRows = Math.round(rows * testFraction);
  return {
    train: order.subarray(testRows).toSorted(),
    test: order.subarray(0, testRows).toSorted(),
  };
}
