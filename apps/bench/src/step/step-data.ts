/**
 * The data of `bench step` as a folder of two files, which programs in any language read: step.json
 * says what lies where in step.bin, little-endian numbers of 4 bytes.
 */
import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { initialise, parameterLayout, type Batch, type ParameterLayout } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { madeUpBatch } from "../made-up-batches.js";

/** Sizes of one comparison. */
export interface StepShape {
  readonly features: number;
  readonly labels: number;
  readonly hidden: number;
  readonly rows: number;
  readonly nonZeros: number;
  /** Different batches, which are used in turn. */
  readonly batches: number;
}

/** Where an array lies in step.bin. */
interface Place {
  /** First byte. */
  readonly offset: number;
  /** Number of elements. */
  readonly length: number;
}

/** Values are float32, all else of a batch uint32. */
const batchArrays = ["offsets", "indices", "values", "labelOffsets", "labels"] as const;

/** What step.json holds. */
interface StepPlan {
  readonly shape: StepShape;
  /** By the tensors' names in `parameterLayout`: float32. */
  readonly parameters: Readonly<Record<string, Place>>;
  readonly batches: readonly Readonly<Record<(typeof batchArrays)[number], Place>>[];
}

/** The data, read again. */
export interface StepData {
  readonly layout: ParameterLayout;
  readonly batches: readonly Batch[];
  /** Reads the initial parameters into an array as long as the layout. */
  readonly readParameters: (into: Float32Array) => void;
}

const files = (folder: string) => ({
  plan: join(folder, "step.json"),
  data: join(folder, "step.bin"),
});

/** A ReLU layer and a softmax over all labels. */
function layoutOf({ features, labels, hidden }: StepShape): ParameterLayout {
  return parameterLayout({
    features,
    labels,
    hidden: [hidden],
    activation: "relu",
    loss: "softmax",
  });
}

/** Makes batches and initial parameters up and writes them, the same for the same shape. */
export function writeStepData(folder: string, shape: StepShape): void {
  const layout = layoutOf(shape);
  const parameters = new Float32Array(layout.length);
  initialise(layout, parameters, 1);
  const file = openSync(files(folder).data, "w");
  let end = 0;
  const append = (array: Float32Array | Uint32Array): Place => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    // One call may write less than it is given, and no more than 2 GiB.
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    const place = { offset: end, length: array.length };
    end += array.byteLength;
    return place;
  };
  try {
    append(parameters);
    const { features, labels: classes, rows, nonZeros } = shape;
    const batches = Array.from({ length: shape.batches }, (_, number) => {
      const one = { rows, features, classes, nonZeros, draw: "log-uniform" } as const;
      const batch = madeUpBatch(createRandom(1, number), one);
      return Object.fromEntries(batchArrays.map((name) => [name, append(batch[name])]));
    });
    const places = layout.tensors.map(({ name, offset, length }) => [
      name,
      { offset: offset * Float32Array.BYTES_PER_ELEMENT, length },
    ]);
    const plan = { shape, parameters: Object.fromEntries(places), batches };
    writeFileSync(files(folder).plan, JSON.stringify(plan));
  } finally {
    closeSync(file);
  }
}

/** Reads what `writeStepData` wrote. */
export function readStepData(folder: string): StepData {
  const plan = JSON.parse(readFileSync(files(folder).plan, "utf8")) as StepPlan;
  const fill = (array: Float32Array | Uint32Array, offset: number): void => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const file = openSync(files(folder).data, "r");
    try {
      for (let done = 0; done < bytes.length;) {
        const count = readSync(file, bytes, done, bytes.length - done, offset + done);
        if (count === 0) throw new Error(`${files(folder).data} ends too early`);
        done += count;
      }
    } finally {
      closeSync(file);
    }
  };
  const ids = ({ offset, length }: Place) => {
    const array = new Uint32Array(length);
    fill(array, offset);
    return array;
  };
  const floats = ({ offset, length }: Place) => {
    const array = new Float32Array(length);
    fill(array, offset);
    return array;
  };
  return {
    layout: layoutOf(plan.shape),
    batches: plan.batches.map((places) => ({
      rows: places.offsets.length - 1,
      offsets: ids(places.offsets),
      indices: ids(places.indices),
      values: floats(places.values),
      labelOffsets: ids(places.labelOffsets),
      labels: ids(places.labels),
    })),
    readParameters: (into) => fill(into, 0),
  };
}
