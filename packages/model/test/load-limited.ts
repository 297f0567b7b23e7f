import { loadModel } from "../src/node.js";

/** For a process of its own: what a model file holds. */
export async function main(path: string): Promise<unknown> {
  const { shape } = await loadModel(path);
  return { shape };
}
