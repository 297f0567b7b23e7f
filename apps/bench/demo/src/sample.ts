import { readXc, type Dataset } from "@heterosgd/sparse";

/** The bundled data set, as the command has it. */
export interface Sample {
  readonly train: Dataset;
  readonly heldOut: Dataset;
}

/** Loads both files from beside the page. @throws Error if one can't be had or read. */
export async function loadSample(): Promise<Sample> {
  const [train, heldOut] = await Promise.all([load("train.txt.gz"), load("test.txt.gz")]);
  return { train, heldOut };
}

async function load(name: string): Promise<Dataset> {
  const response = await fetch(name);
  if (!response.ok || response.body === null) {
    throw new Error(`${name} can't be loaded: the server answers ${response.status}`);
  }
  // Of the types of streams, those of the DOM know of buffers in shared memory and these do not.
  const unpacking = new DecompressionStream("gzip") as unknown as ReadableWritablePair<
    Uint8Array,
    Uint8Array
  >;
  const { dataset } = await readXc(response.body.pipeThrough(unpacking), { source: name });
  return dataset;
}
