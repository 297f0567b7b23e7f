import { SparseError } from "../errors.js";
import { fileBytes } from "./file-bytes.js";

/**
 * Reads names of labels or features from a file, plain or gzip. A line is the name, or an
 * identifier, a tab and the name. Line `i`, counting from 0, names label `i`; but where every line
 * of `n` has a whole number from 0 to `n` as its identifier (without leading zeros), the number
 * says which label it names.
 *
 * @throws SparseError `BAD_NAMES` if a line before the last is empty, since the names after it
 *   would belong to other numbers than meant, or if such numbers are given twice, leave one out or
 *   count from 1 in another order; errors of files as `readDatasetFile`.
 */
export async function readNames(path: string): Promise<string[]> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of fileBytes(path)) text += decoder.decode(bytes, { stream: true });
  text += decoder.decode();
  const lines = text.replace(/(\r?\n)+$/, "").split(/\r?\n/);
  const names = lines.map((line, i) => {
    const name = line.slice(line.indexOf("\t") + 1).trim();
    if (name !== "") return name;
    throw badLine(
      path,
      i,
      "expected a name, received an empty line. Line n names number n - 1: put a name there.",
    );
  });
  return inOrder(path, names, numbersOf(lines));
}

/** The numbers before the tabs, null if they are none that could count the lines. */
function numbersOf(lines: readonly string[]): readonly number[] | null {
  const numbers: number[] = [];
  for (const line of lines) {
    const match = /^(0|[1-9]\d{0,14})\t/.exec(line);
    if (match === null || Number(match[1]) > lines.length) return null;
    numbers.push(Number(match[1]));
  }
  return numbers;
}

function inOrder(path: string, names: string[], numbers: readonly number[] | null): string[] {
  if (numbers === null || numbers.every((number, i) => number === i + 1)) return names;
  const ordered: string[] = [];
  for (const [i, number] of numbers.entries()) {
    if (number < names.length && ordered[number] === undefined) {
      ordered[number] = names[i]!;
      continue;
    }
    const what =
      number < names.length
        ? `number ${number} is named a second time`
        : `number ${number} is out of place`;
    throw badLine(
      path,
      i,
      `${what}: the numbers before the tabs must be 0 to ${names.length - 1}, each once, in any order. Correct them, or leave them out.`,
    );
  }
  return ordered;
}

function badLine(path: string, line: number, message: string): SparseError {
  return new SparseError("BAD_NAMES", message, { at: { source: path, line: line + 1, column: 1 } });
}
