/** The algorithms' own options as a schema. */
import type { OptionValue } from "@heterosgd/scheduler";
import type * as z from "zod";
import { option, own } from "./option-look.js";
import { isSwitchOption, ownDescription, ownNames, ownType } from "./own-options.js";

/** Short flags and names of values in help, where an algorithm's option has one. */
const shorts: Readonly<Record<string, string>> = { batch: "b" };
const valueWords: readonly (readonly [RegExp, string])[] = [
  [/^(batch|microBatch|megaBatch|.*(Batch|Rows|Max|Min|Reference))/, "ROWS"],
  [/^(accelerate|merge|batchScaling|learningRateRule)$/, "RULE"],
  [/(Every|Steps|staleness)$/, "N"],
];

/** The algorithms' own options: null, which stands for the algorithm's default, unless they are set. */
export const ownShape: Readonly<Record<string, z.ZodType<OptionValue>>> = Object.fromEntries(
  ownNames.map((name) => {
    const type = ownType(name);
    const short = shorts[name];
    const value = valueWords.find(([pattern]) => pattern.test(name))?.[1] ?? "X";
    return [
      name,
      option(
        type,
        {
          group: own,
          ...(isSwitchOption(name) ? {} : { value }),
          ...(short === undefined ? {} : { short }),
        },
        ownDescription(name),
      ),
    ];
  }),
);
