/**
 * The JSON header of a model file. The file is in the safetensors format: 8 bytes with the header's
 * length, the header, the tensors' bytes back to back. The network's configuration lies in the
 * header's `__metadata__`, a map of strings, so that any safetensors reader opens the file.
 */
import * as z from "zod";
import { ModelError, type ModelErrorCode } from "../errors.js";
import { parameterLayout, type ParameterLayout, type TensorView } from "../network/layout.js";
import { activations, losses, type ModelShape } from "../network/shape.js";

/** The longest header that safetensors readers accept. */
export const maxHeaderBytes = 100_000_000;

const formatName = "heterosgd";
const formatVersion = "1";
const metadataKey = "__metadata__";

const metadataSchema = z.object({
  format: z.string(),
  version: z.string(),
  shape: z.string(),
  labelNames: z.string().optional(),
  info: z.string().optional(),
});
const shapeSchema = z.strictObject({
  features: z.number(),
  hidden: listOf(isNumber, 1000, "a list of at most 1000 numbers"),
  labels: z.number(),
  activation: z.enum(activations),
  loss: z.enum(losses),
});
const labelNamesSchema = listOf(isText, Infinity, "a list of texts");
const infoSchema = z.record(z.string(), z.string());
const tensorSchema = z.strictObject({
  dtype: z.literal("F32"),
  shape: listOf(isSize, 2, "one size or two"),
  data_offsets: z.custom<[number, number]>(
    (value) => Array.isArray(value) && value.length === 2 && value.every(isSize),
  ),
});

/**
 * Objects, lists and members in a header or its notes: far more than the deepest network's tensors. Each takes some
 * thirty times as much memory as its text.
 */
const mostParts = 100_000;

/** Notes that a header has room for. */
export const mostNotes = mostParts / 2;

/** One complaint about the whole list: zod's own lists have one for each element, and copies. */
function listOf<T>(
  holds: (element: unknown) => element is T,
  most: number,
  expected: string,
): z.ZodType<T[]> {
  const isList = (value: unknown) =>
    Array.isArray(value) && value.length <= most && value.every(holds);
  return z.custom<T[]>(isList, `expected ${expected}`);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** What a header says. */
export interface Header {
  readonly layout: ParameterLayout;
  readonly labelNames?: readonly string[];
  readonly info: Readonly<Record<string, string>>;
}

/** A tensor's place in the file, in bytes from the end of the header. */
export interface TensorBytes {
  readonly tensor: TensorView;
  readonly begin: number;
  readonly end: number;
}

/**
 * Where the tensors lie in a file that `formatHeader` describes: in the layout's order, without
 * gaps.
 */
export function packTensors(tensors: readonly TensorView[]): readonly TensorBytes[] {
  let end = 0;
  return tensors.map((tensor) => {
    const begin = end;
    end += tensor.length * Float32Array.BYTES_PER_ELEMENT;
    return { tensor, begin, end };
  });
}

/**
 * The header as text, padded with spaces so that with its length of 8 bytes it ends at a multiple
 * of 8.
 */
export function formatHeader({ layout, labelNames, info }: Header): Uint8Array {
  const header: Record<string, unknown> = {
    [metadataKey]: {
      format: formatName,
      version: formatVersion,
      shape: JSON.stringify(layout.shape),
      ...(labelNames && { labelNames: JSON.stringify(labelNames) }),
      info: JSON.stringify(info),
    },
  };
  for (const { tensor, begin, end } of packTensors(layout.tensors)) {
    header[tensor.name] = { dtype: "F32", shape: tensor.dimensions, data_offsets: [begin, end] };
  }
  const text = JSON.stringify(header);
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8).fill(0x20);
  padded.set(bytes);
  return padded;
}

/**
 * Reads and checks a header: configuration, names and shapes of the tensors, and that they fill
 * `dataBytes` bytes without gap or overlap. Nothing of the network's size is allocated.
 *
 * @throws ModelError MODEL_FORMAT, MODEL_SHAPE, MODEL_TRUNCATED
 */
export function parseHeader(
  bytes: Uint8Array,
  dataBytes: number,
): Header & { readonly tensors: readonly TensorBytes[] } {
  const header = parseJson(decode(bytes), "header is");
  if (!isObject(header)) throw fail("MODEL_FORMAT", "the header is not a JSON object");
  const metadata = metadataSchema.safeParse(own(header, metadataKey));
  if (!metadata.success || metadata.data.format !== formatName) {
    const what = "it is a safetensors file, but its header does not describe a heterosgd network";
    throw fail("MODEL_FORMAT", `${what}; only models that heterosgd saved can be loaded`);
  }
  const { version } = metadata.data;
  if (version !== formatVersion) {
    const what = `it has format version ${quote(version)}, this program reads ${formatVersion}`;
    throw fail("MODEL_FORMAT", `${what}; update heterosgd`);
  }

  const shape: ModelShape = check(shapeSchema, parseJson(metadata.data.shape, "shape is"), "shape");
  const layout = layoutOf(shape);
  const tensors = checkTensors(header, layout, dataBytes);
  const info = metadata.data.info === undefined ? {} : parseJson(metadata.data.info, "info is");
  const result = { layout, tensors, info: check(infoSchema, info, "info") };
  if (metadata.data.labelNames === undefined) return result;
  const parsedNames = parseJson(metadata.data.labelNames, "label names are");
  const labelNames = check(labelNamesSchema, parsedNames, "label names");
  if (labelNames.length !== shape.labels) {
    const what = `it has ${labelNames.length} label names for ${shape.labels} labels`;
    throw fail("MODEL_SHAPE", what);
  }
  return { ...result, labelNames };
}

function checkTensors(
  header: Readonly<Record<string, unknown>>,
  layout: ParameterLayout,
  dataBytes: number,
): readonly TensorBytes[] {
  const unknown = new Set(Object.keys(header));
  unknown.delete(metadataKey);
  const tensors = layout.tensors.map((tensor): TensorBytes => {
    const { name, length, dimensions } = tensor;
    unknown.delete(name);
    const parsed = tensorSchema.safeParse(own(header, name));
    if (!parsed.success) {
      throw fail(
        "MODEL_FORMAT",
        `tensor ${name} is missing or isn't float32 with a shape and offsets`,
      );
    }
    const { shape, data_offsets: offsets } = parsed.data;
    const [begin, end] = offsets;
    if (shape.join() !== dimensions.join()) {
      const what = `tensor ${name} has shape ${brief(`[${shape.join(", ")}]`)}`;
      throw fail("MODEL_SHAPE", `${what}, the configuration asks for [${dimensions.join(", ")}]`);
    }
    if (end - begin !== length * Float32Array.BYTES_PER_ELEMENT) {
      throw fail("MODEL_FORMAT", `tensor ${name}'s offsets don't span the bytes of its shape`);
    }
    return { tensor, begin, end };
  });
  if (unknown.size > 0) {
    const [name] = unknown;
    throw fail("MODEL_SHAPE", `the configuration has no tensor ${quote(name ?? "")}`);
  }

  let covered = 0;
  for (const { tensor, begin, end } of tensors.toSorted((a, b) => a.begin - b.begin)) {
    if (begin !== covered) {
      throw fail("MODEL_FORMAT", `tensor ${tensor.name} overlaps another or follows a gap`);
    }
    covered = end;
  }
  if (covered > dataBytes) {
    throw fail(
      "MODEL_TRUNCATED",
      `it has ${dataBytes} bytes of tensors, its header says ${covered}`,
    );
  }
  if (covered < dataBytes) {
    throw fail("MODEL_FORMAT", `${dataBytes - covered} bytes follow the last tensor`);
  }
  return tensors;
}

function layoutOf(shape: ModelShape): ParameterLayout {
  try {
    return parameterLayout(shape);
  } catch (error) {
    throw fail("MODEL_SHAPE", `its shape is impossible: ${(error as Error).message}`, error);
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? ` at ${quote(issue.path.join("."))}` : "";
  const message = brief(issue?.message ?? "not as expected");
  throw fail("MODEL_SHAPE", `the header's ${what}${where}: ${message}`);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw fail("MODEL_FORMAT", "the header is not UTF-8 text", error);
  }
}

function parseJson(text: string, what: string): unknown {
  if (hasMoreParts(text, mostParts)) {
    throw fail("MODEL_FORMAT", `the ${what} of more than ${mostParts} parts, as no model's is`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail("MODEL_FORMAT", `the ${what} not JSON`, error);
  }
}

/** Whether a JSON text has more objects, lists and members than `most`; names and texts don't count. */
function hasMoreParts(text: string, most: number): boolean {
  let parts = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) inText = !inText;
    else if (inText) i += code === 0x5c ? 1 : 0;
    else if (code === 0x7b || code === 0x5b || code === 0x3a) parts++;
  }
  return parts > most;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A key of the header itself, never one that objects inherit. */
function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function quote(text: string): string {
  return JSON.stringify(brief(text));
}

function brief(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function fail(code: ModelErrorCode, message: string, cause?: unknown): ModelError {
  return new ModelError(code, message, { cause });
}
