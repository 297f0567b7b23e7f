/**
 * Flat arrays in the safetensors format, one after another in an order that both sides know. So the
 * header is known before the file is read, byte for byte, and nothing of it needs to be believed.
 */
import { open } from "node:fs/promises";
import { readAll, writeAll } from "@heterosgd/model/node";
import { TrainerError } from "../errors.js";
import type { ArrayName } from "./model-names.js";

/** Where the arrays lie in their file. */
export interface ArraysLayout {
  readonly names: readonly ArrayName[];
  /** Elements of each array. */
  readonly length: number;
  /** The header with its length before it. */
  readonly head: Uint8Array;
  /** Of the whole file. */
  readonly bytes: number;
}

/** @param length - elements of each array. */
export function arraysLayout(names: readonly ArrayName[], length: number): ArraysLayout {
  const size = length * Float32Array.BYTES_PER_ELEMENT;
  const header: Record<string, unknown> = {
    __metadata__: { format: "heterosgd-arrays", version: "1" },
  };
  for (const [i, { model, state }] of names.entries()) {
    const name = state === null ? `${model}/parameters` : `${model}/state.${state}`;
    header[name] = { dtype: "F32", shape: [length], data_offsets: [i * size, (i + 1) * size] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.length / 8) * 8;
  const head = new Uint8Array(8 + padded).fill(0x20);
  new DataView(head.buffer).setBigUint64(0, BigInt(padded), true);
  head.set(text, 8);
  return { names, length, head, bytes: head.length + names.length * size };
}

/** Writes a new file and flushes it to the disk. @throws the system's error */
export async function writeArrays(
  path: string,
  { names, length, head }: ArraysLayout,
  arrayOf: (name: ArrayName) => Float32Array,
): Promise<void> {
  const file = await open(path, "wx");
  try {
    await writeAll(file, head);
    for (const name of names) {
      const array = arrayOf(name);
      if (array.length !== length) {
        throw new RangeError(
          `an array of ${name.model} has ${array.length} elements, not ${length}`,
        );
      }
      await writeAll(file, bytesOf(array));
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Fills arrays from a file.
 *
 * @param targets - what is to be read, and where to.
 * @throws TrainerError CHECKPOINT_FORMAT if the file is not laid out like that, or a value is not
 * finite; the system's error.
 */
export async function readArrays(
  path: string,
  layout: ArraysLayout,
  targets: ReadonlyMap<ArrayName, Float32Array>,
): Promise<void> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const head = new Uint8Array(layout.head.length);
    const isWhole = size === layout.bytes && (await readAll(file, head, 0));
    if (!isWhole || Buffer.compare(head, layout.head) !== 0) {
      throw new TrainerError(
        "CHECKPOINT_FORMAT",
        `the arrays are not those of the ${layout.names.length} that ${layout.bytes} bytes are expected for`,
      );
    }
    for (const [i, name] of layout.names.entries()) {
      const target = targets.get(name);
      if (target === undefined) continue;
      const bytes = bytesOf(target);
      if (!(await readAll(file, bytes, head.length + i * bytes.length))) {
        throw new TrainerError("CHECKPOINT_DAMAGED", "the file became shorter while it was read");
      }
      requireFinite(name, target);
    }
  } finally {
    await file.close();
  }
}

function requireFinite({ model }: ArrayName, array: Float32Array): void {
  if (array.every(Number.isFinite)) return;
  throw new TrainerError("CHECKPOINT_FORMAT", `an array of ${model} holds what is not finite`);
}

/** Little-endian, as is every machine that kernels run on. */
function bytesOf(array: Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
