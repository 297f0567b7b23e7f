/** What the process of `isolation: "process"` is told and answers. */
import type { GpujsDevice, GpujsLack, GpujsNodeMode } from "../api.js";

/** With an `id` it is answered; without, what goes wrong is answered by the next one that has. */
export interface Request {
  readonly id?: number;
  readonly call: Call;
}

export type Call =
  | { readonly name: "probe"; readonly mode: GpujsNodeMode }
  | { readonly name: "open"; readonly mode: GpujsNodeMode }
  | { readonly name: "allocate"; readonly array: number; readonly length: number }
  | { readonly name: "upload"; readonly batch: unknown; readonly slot: 0 | 1 }
  | { readonly name: "read"; readonly source: unknown }
  | {
      readonly name: "topK";
      readonly rows: number;
      readonly hidden: unknown;
      readonly layer: unknown;
      readonly k: number;
    }
  | { readonly name: "deviceUse" }
  | { readonly name: "dispose" }
  | { readonly name: PlainOperation; readonly values: readonly unknown[] };

/** Operations that take arrays and give nothing. */
export type PlainOperation =
  | "write"
  | "gather"
  | "dense"
  | "output"
  | "denseBackward"
  | "scatter"
  | "blend"
  | "warm";

export interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: string | null; readonly message: string };
}

export interface Opened {
  readonly device: string;
}

export type Probed = { readonly device: GpujsDevice } | { readonly lack: GpujsLack };

/** Stands for a part of an array, or for the batch in a slot, in messages. */
export type Reference =
  | { readonly $: "array"; readonly array: number; readonly start: number; readonly length: number }
  | { readonly $: "batch"; readonly slot: 0 | 1 };

/** A value with other things in the place of some objects: those for which `replacement` gives any. */
export function replaceIn(value: unknown, replacement: (object: object) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const other = replacement(value);
  if (other !== undefined) return other;
  if (ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map((one) => replaceIn(one, replacement));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, replaceIn(one, replacement)]),
  );
}
