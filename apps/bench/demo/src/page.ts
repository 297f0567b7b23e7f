/** The page's elements, by what they show. */
import { createLineChart } from "./line-chart.js";

const ids = [
  "run",
  "reset",
  "state",
  "problem",
  "loss",
  "precision",
  "epochs",
  "updates",
  "speed",
  "loss-chart",
  "precision-chart",
  "kernels",
  "renderer",
  "network",
  "algorithm",
] as const;
type Id = (typeof ids)[number];

export interface Page {
  readonly run: HTMLButtonElement;
  readonly reset: HTMLButtonElement;
  readonly lossChart: ReturnType<typeof createLineChart>;
  readonly precisionChart: ReturnType<typeof createLineChart>;
  show(id: Exclude<Id, "run" | "reset" | "problem">, text: string): void;
  /** Says what went wrong; there is no going on. */
  fail(text: string): void;
}

export function findPage(): Page {
  const element = (id: Id): HTMLElement => {
    const found = document.getElementById(id);
    if (found === null) throw new TypeError(`the page has no element ${id}`);
    return found;
  };
  const [run, reset] = [element("run"), element("reset")] as HTMLButtonElement[];
  const show = (id: Id, text: string) => {
    const place = element(id);
    // What stays the same is not to be read out again.
    if (place.textContent !== text) place.textContent = text;
  };
  return {
    run: run!,
    reset: reset!,
    lossChart: createLineChart(element("loss-chart"), {
      label: "Loss",
      top: null,
      meanOver: 50,
      format: (value) => value.toFixed(Number.isInteger(value) ? 0 : 2),
    }),
    precisionChart: createLineChart(element("precision-chart"), {
      label: "P@1 on held-out rows",
      top: 1,
      meanOver: 1,
      format: (value) => value.toFixed(2),
    }),
    show,
    fail(text) {
      show("problem", text);
      element("problem").hidden = false;
      show("state", "stopped");
      run!.disabled = true;
      reset!.disabled = true;
    },
  };
}
