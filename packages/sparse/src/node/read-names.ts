import { SparseError } from "../errors.js";
import { fileBytes } from "./file-bytes.js";

/** More than a model file has room for. */
const MOST_BYTES = 2 ** 27;
const LONGEST_LINE = 65_536;
const MOST_NAMES = 2 ** 24;

/**
 * Reads names of labels or features from a file, plain or gzip. A line is the name, or an
 * identifier, a tab and the name. Line `i`, counting from 0, names label `i`; but where every line
 * of `n` has a whole number from 0 to `n` as its identifier (without leading zeros), the number
 * says which label it names.
 *
 * @throws SparseError `BAD_NAMES` if a line before the last is empty, since the names after it
 *   would belong to other numbers than meant, if such numbers are given twice, leave one out or
 *   count from 1 in another order, or if a line or the text is longer than any of names; errors of
 *   files as `readDatasetFile`.
 */
export async function readNames(path: string): Promise<string[]> {
  const names: string[] = [];
  /** The numbers before the tabs, null as soon as they are none that could count the lines. */
  let numbers: number[] | null = [];
  let emptyLines = 0;
  for await (const lines of linesOf(path)) {
    for (const line of lines) {
      if (line === "") {
        emptyLines++;
        continue;
      }
      const name = line.slice(line.indexOf("\t") + 1).trim();
      if (name === "" || emptyLines > 0) throw emptyLine(path, names.length);
      if (names.push(name) > MOST_NAMES) throw tooMuch(path, names.length, `${MOST_NAMES} names`);
      const match = /^(0|[1-9]\d{0,14})\t/.exec(line);
      if (match === null) numbers = null;
      else numbers?.push(Number(match[1]));
    }
  }
  if (names.length === 0) throw emptyLine(path, 0);
  if (numbers?.some((number) => number > names.length)) numbers = null;
  return inOrder(path, names, numbers);
}

/** The lines of a text, as they arrive. */
async function* linesOf(path: string): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  let bytes = 0;
  let count = 0;
  for await (const chunk of fileBytes(path)) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw tooMuch(path, count, `${MOST_BYTES} bytes`);
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield lines.map(withoutReturn);
    count += lines.length;
    if (rest.length > LONGEST_LINE) throw tooMuch(path, count, `${LONGEST_LINE} characters`);
  }
  rest += decoder.decode();
  if (rest !== "") yield [withoutReturn(rest)];
}

function tooMuch(path: string, line: number, limit: string): SparseError {
  return badLine(path, line, `names, or a name, of more than ${limit}. Is this the right file?`);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
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

function emptyLine(path: string, line: number): SparseError {
  return badLine(
    path,
    line,
    "expected a name, received an empty line. Line n names number n - 1: put a name there.",
  );
}

function badLine(path: string, line: number, message: string): SparseError {
  return new SparseError("BAD_NAMES", message, { at: { source: path, line: line + 1, column: 1 } });
}
