import { MAX_COUNT } from "../layout.js";
import type { Complaint } from "./scanner.js";

/** Takes labels as they are where they are within the text's own bound and the caller's. */
export function labelBounds(
  declared: number | null,
  bound: number | null,
  drop: boolean,
): (value: number) => number | Complaint {
  return (value) => {
    if (value < 0 || value >= (declared ?? MAX_COUNT)) {
      return {
        code: "LABEL_OUT_OF_BOUNDS",
        what:
          declared === null
            ? `label ${value}, but labels are numbered from 0`
            : `label ${value}, but the header says ${declared} labels, numbered from 0`,
        advice: "Correct it.",
      };
    }
    if (bound === null || value < bound) return value;
    if (drop) return -1;
    return {
      code: "TOO_WIDE",
      what: `label ${value}, but at most ${bound} labels are asked for, numbered from 0`,
      advice: 'Use data of the same labels, or leave the others out with onWider: "drop".',
    };
  };
}
