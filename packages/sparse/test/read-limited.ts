import { readDatasetFile, readNames, type FileOptions } from "../src/node.js";

/** For a process of its own: what a file is read as. */
export async function main({
  path,
  as,
  options,
}: {
  readonly path: string;
  readonly as: "data" | "names";
  readonly options?: FileOptions;
}): Promise<unknown> {
  if (as === "names") return { names: (await readNames(path)).length };
  const { dataset } = await readDatasetFile(path, options);
  return { rows: dataset.rows, nonZeros: dataset.features.indices.length };
}
