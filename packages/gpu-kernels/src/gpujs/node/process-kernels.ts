import type {
  GpujsArray,
  GpujsBatch,
  GpujsDeviceUse,
  GpujsKernels,
  GpujsNodeMode,
} from "../api.js";
import { equalLengths, fail, hostArray, whole } from "../../checks.js";
import { kindOf } from "@heterosgd/model";
import { openChild } from "./child.js";
import { replaceIn, type Opened, type PlainOperation, type Reference } from "./messages.js";

/**
 * Kernels in a process of their own. Arrays and batches are numbers there; what is sent is copied.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE, GPU_LOST
 */
export async function openProcessKernels(mode: GpujsNodeMode): Promise<GpujsKernels> {
  const child = openChild();
  let opened: Opened;
  try {
    opened = (await child.ask({ name: "open", mode })) as Opened;
  } catch (error) {
    child.end();
    throw error;
  }

  const places = new WeakMap<object, Extract<Reference, { readonly $: "array" }>>();
  const batches: (GpujsBatch | undefined)[] = [undefined, undefined];
  let arrays = 0;
  let closed: Promise<void> | undefined;

  function alive(operation: string): void {
    if (closed !== undefined) fail("KERNEL_DISPOSED", operation, "the kernels were disposed");
  }

  function make(array: number, start: number, length: number): GpujsArray {
    const made: GpujsArray = { length };
    places.set(made, { $: "array", array, start, length });
    return made;
  }

  function placeOf(operation: string, name: string, array: GpujsArray) {
    const isObject = typeof array === "object" && array !== null;
    const place = isObject ? places.get(array) : undefined;
    if (place !== undefined) return place;
    const expected = "expected an array that allocate or view of these kernels gave";
    fail("KERNEL_ARRAY", operation, `${name} is ${kindOf(array)}, ${expected}`);
  }

  const refer = (value: unknown): unknown =>
    replaceIn(value, (object) => {
      const slot = batches.indexOf(object as GpujsBatch);
      return slot < 0
        ? places.get(object)
        : ({ $: "batch", slot: slot as 0 | 1 } satisfies Reference);
    });

  function tell(name: PlainOperation, values: readonly unknown[]): void {
    alive(name);
    child.tell({ name, values: refer(values) as readonly unknown[] });
  }

  /** The batch is to be the one in its slot. */
  function use(operation: string, batch: GpujsBatch): void {
    if (batches.includes(batch)) return;
    const reason = "upload of these kernels did not return it, or another took its place";
    fail("KERNEL_BATCH", operation, `the batch is in no slot: ${reason}`);
  }

  return {
    name: `gpujs-${mode}`,
    mode,
    device: opened.device,
    sharesMemory: false,

    allocate(length) {
      alive("allocate");
      whole("allocate", "length", length, 0, 2 ** 32 - 1);
      const array = arrays++;
      child.tell({ name: "allocate", array, length });
      return make(array, 0, length);
    },

    view(array, start, length) {
      alive("view");
      const place = placeOf("view", "array", array);
      whole("view", "start", start, 0, place.length);
      whole("view", "length", length, 0, place.length - start);
      return make(place.array, place.start + start, length);
    },

    write(source, target) {
      alive("write");
      hostArray("write", "source", source, Float32Array, 0);
      placeOf("write", "target", target);
      equalLengths("write", source.length, target.length);
      tell("write", [source, target]);
    },

    async read(source, target) {
      alive("read");
      const place = placeOf("read", "source", source);
      hostArray("read", "target", target, Float32Array, 0);
      equalLengths("read", source.length, target.length);
      target.set((await child.ask({ name: "read", source: place })) as Float32Array);
    },

    upload(batch, slot) {
      alive("upload");
      whole("upload", "slot", slot, 0, 1);
      child.tell({ name: "upload", batch, slot });
      const token = { rows: batch.rows };
      batches[slot] = token;
      return token;
    },

    gather(batch, ...rest) {
      use("gather", batch);
      tell("gather", [batch, ...rest]);
    },
    dense: (...values) => tell("dense", values),
    output(batch, ...rest) {
      use("output", batch);
      tell("output", [batch, ...rest]);
    },
    denseBackward: (...values) => tell("denseBackward", values),
    scatter(batch, ...rest) {
      use("scatter", batch);
      tell("scatter", [batch, ...rest]);
    },

    async topK(rows, hidden, layer, k, ids, logits, logSumExp) {
      alive("topK");
      whole("topK", "rows", rows, 1);
      whole("topK", "k", k, 1);
      hostArray("topK", "ids", ids, Uint32Array, rows * k);
      hostArray("topK", "logits", logits, Float32Array, rows * k);
      hostArray("topK", "logSumExp", logSumExp, Float32Array, rows);
      const call = { name: "topK", rows, hidden: refer(hidden), layer: refer(layer), k } as const;
      const found = (await child.ask(call)) as readonly [Uint32Array, Float32Array, Float32Array];
      ids.set(found[0]);
      logits.set(found[1]);
      logSumExp.set(found[2]);
    },

    blend: (...values) => tell("blend", values),

    async warm(layout, limits) {
      alive("warm");
      await child.ask({ name: "warm", values: [layout, limits] });
    },

    deviceUse() {
      alive("deviceUse");
      return child.ask({ name: "deviceUse" }) as Promise<GpujsDeviceUse>;
    },

    dispose() {
      closed ??= child.ask({ name: "dispose" }).then(
        () => child.end(),
        (error: unknown) => {
          child.end();
          throw error;
        },
      );
      return closed;
    },
  };
}
