import { SparseError } from "../errors.js";
import { fileBytes } from "./file-bytes.js";

/**
 * Reads names of labels or features from a file, plain or gzip: line `i`, counting from 0, names
 * label `i`. A line is the name, or an identifier, a tab and the name.
 *
 * @throws SparseError `BAD_NAMES` if a line before the last is empty, since the names after it would
 *   belong to other numbers than meant; errors of files as `readDatasetFile`.
 */
export async function readNames(path: string): Promise<string[]> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of fileBytes(path)) text += decoder.decode(bytes, { stream: true });
  text += decoder.decode();
  const lines = text.replace(/(\r?\n)+$/, "").split(/\r?\n/);
  return lines.map((line, i) => {
    const name = line.slice(line.indexOf("\t") + 1).trim();
    if (name !== "") return name;
    throw new SparseError(
      "BAD_NAMES",
      `expected a name, received an empty line. Line n names number n - 1: put a name there.`,
      { at: { source: path, line: i + 1, column: 1 } },
    );
  });
}
