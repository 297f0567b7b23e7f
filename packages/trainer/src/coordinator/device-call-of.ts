import type {
  AccumulateCommand,
  ApplyCommand,
  BlendCommand,
  ModelName,
  PushCommand,
  StepCommand,
  Term,
} from "@heterosgd/scheduler";
import type {
  AccumulateCall,
  ApplyCall,
  BlendCall,
  ModelTerm,
  PushCall,
  RowSpan,
  StepCall,
} from "../device/api.js";
import type { ModelTable } from "./model-table.js";

/** A policy's commands as devices understand them: with slots, as names mean them now. */
export interface DeviceCallOf {
  step(command: StepCommand, rows: readonly RowSpan[]): StepCall;
  accumulate(command: AccumulateCommand, rows: readonly RowSpan[]): AccumulateCall;
  push(command: PushCommand): PushCall;
  apply(command: ApplyCommand): ApplyCall;
  blend(command: BlendCommand): Pick<BlendCall, "target" | "terms" | "stateTerms">;
}

export function deviceCallOf({ slot }: Pick<ModelTable, "slot">): DeviceCallOf {
  const terms = (list: readonly Term[]): ModelTerm[] =>
    list.map(({ model, coefficient }) => ({ model: slot(model), coefficient }));
  return {
    step: ({ microBatchRows = null, learningRate, model }, rows) => ({
      rows,
      microBatchRows,
      learningRate,
      model: slot(model),
    }),
    accumulate: ({ model, into, reset = false }, rows) => ({
      rows,
      model: slot(model),
      into: slot(into),
      reset,
    }),
    push: ({ device, norm, model = `replica:${device}` }) => ({ model: slot(model), norm }),
    apply: ({ source, target, scale }) => ({ source: slot(source), target: slot(target), scale }),
    blend: ({ target, terms: parameters, stateTerms }) => ({
      target: slot(target),
      terms: terms(parameters),
      stateTerms: terms(stateTerms),
    }),
  };
}

/** How many updates a blend of these models stands for: those of the furthest one. */
export function mostUpdates(
  models: ModelTable,
  sources: readonly { readonly model: ModelName }[],
): number {
  return Math.max(0, ...sources.map(({ model }) => models.memory(model).updates[0] ?? 0));
}
