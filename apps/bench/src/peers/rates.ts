/** Learning rates at the start, chosen by `bench peers --tune` on a tenth of the training rows that is held out. */

/** What is tried with Adam. */
const adamGrid = [0.003, 0.01, 0.03, 0.1];
/** And of fastText, which takes a step for each row. */
const fasttextGrid = [0.3, 1, 3];

/** By set and contestant. */
const rates: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "cooking-stackexchange": { heterosgd: 0.03, "heterosgd, a device a core": 0.03, fastText: 1 },
  delicious: { heterosgd: 0.01, "heterosgd, a device a core": 0.03, fastText: 1 },
  // fastText would take hours here.
  "wordnet-hypernyms": { heterosgd: 0.01, "heterosgd, a device a core": 0.03 },
};

/** @param name - of the contestant. */
export function rateOf(set: string, name: string): number {
  return rates[set]?.[name] ?? gridOf(name)[1]!;
}

export function gridOf(name: string): readonly number[] {
  return name === "fastText" ? fasttextGrid : adamGrid;
}
