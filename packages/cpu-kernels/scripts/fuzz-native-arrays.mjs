// @ts-check
// Arrays for fuzzing: views at any element of larger ones, between zones that must stay as they are.

/** @typedef {ReturnType<typeof createRandom>} Random */

/** @param {number} seed */
export function createRandom(seed) {
  let state = seed >>> 0;
  // Mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (/** @type {number} */ bound) => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (/** @type {number} */ probability) => next() < probability,
    /** @template T @param {readonly T[]} items @returns {T} */
    pick: (items) => items[below(items.length)],
    /** Up to `count` different numbers below `bound`. @param {number} bound @param {number} count */
    ascending(bound, count) {
      const chosen = new Set(Array.from({ length: count }, () => below(bound)));
      return [...chosen].toSorted((a, b) => a - b);
    },
  };
}

const zone = 16;
const guard = 0x5ca1ab1e;

/** @param {Random} random */
export function createArrays(random) {
  const { below, chance, next, pick } = random;
  /** @type {{ whole: Uint32Array, start: number, end: number }[]} */
  let guarded = [];
  const shared = new Uint32Array(new SharedArrayBuffer(4096));

  /** @param {number} length @returns {{ buffer: ArrayBufferLike, offset: number }} */
  function room(length) {
    // Sometimes memory that another thread writes to all the time.
    if (chance(0.05) && length < 900)
      return { buffer: shared.buffer, offset: 4 * below(1024 - length) };
    const start = zone + below(4);
    const bytes = 4 * (start + length + zone);
    const buffer = chance(0.5) ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
    const whole = new Uint32Array(buffer).fill(guard);
    guarded.push({ whole, start, end: start + length });
    return { buffer, offset: 4 * start };
  }

  return {
    shared,
    /** @param {number} length */
    floats: (length) => {
      // At the very end of its memory, where AddressSanitizer sees the first element too many.
      const tight = chance(0.4);
      const { buffer, offset } = tight
        ? { buffer: new ArrayBuffer(4 * length), offset: 0 }
        : room(length);
      const array = new Float32Array(buffer, offset, length);
      const scale = pick([1, 1, 1, 1e-30, 1e30, 0]);
      for (let i = 0; i < length; i++) array[i] = (next() - 0.5) * scale;
      if (chance(0.05) && length > 0) array[below(length)] = pick([NaN, Infinity, -Infinity]);
      return array;
    },
    /** @param {number} length */
    words: (length) => {
      const tight = chance(0.4);
      const { buffer, offset } = tight
        ? { buffer: new ArrayBuffer(4 * length), offset: 0 }
        : room(length);
      return new Uint32Array(buffer, offset, length);
    },
    detached() {
      const array = new Float32Array(1 + below(50));
      structuredClone(array, { transfer: [array.buffer] });
      return array;
    },
    /** A view that has lost its end, or all of it, since its buffer became smaller. */
    shrunk() {
      const Resizable = /** @type {new (length: number, options: object) => ArrayBuffer} */ (
        ArrayBuffer
      );
      const buffer = new Resizable(400, { maxByteLength: 400 });
      const array = chance(0.5) ? new Float32Array(buffer) : new Float32Array(buffer, 8, 50);
      /** @type {ArrayBuffer & { resize: (length: number) => void }} */ (buffer).resize(
        4 * below(60),
      );
      return array;
    },
    /** Another view of the same memory, moved and as long as can be. @param {Float32Array} array */
    overlapping(array) {
      if (array.length === 0) return array;
      return array.subarray(below(3), array.length - below(3));
    },
    /** What was written outside of the arrays made since the last reset. */
    damage() {
      for (const { whole, start, end } of guarded) {
        for (let i = 0; i < whole.length; i++) {
          if ((i < start || i >= end) && whole[i] !== guard) {
            return `element ${i - start} of ${end - start} became ${whole[i]}`;
          }
        }
      }
      return undefined;
    },
    reset() {
      guarded = [];
    },
  };
}
