import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { ModelError } from "../errors.js";
import { sharedFloat32 } from "../kernels/plain/arrays.js";
import { parameterLayout, type ParameterLayout, type TensorView } from "../network/layout.js";
import type { ModelShape } from "../network/shape.js";
import { readAll, syncFolder, writeAll } from "./file-bytes.js";
import { formatHeader, maxHeaderBytes, mostNotes, packTensors, parseHeader } from "./header.js";

/** What a model file holds. */
export interface Model {
  readonly shape: ModelShape;
  /** The flat array of parameters, laid out as `parameterLayout(shape)` says. */
  readonly parameters: Float32Array;
  /** One name a label, or none at all. */
  readonly labelNames?: readonly string[];
  /** Free notes, kept as they are: how the model was trained, on what. */
  readonly info?: Readonly<Record<string, string>>;
}

/** A model as `loadModel` returns it. */
export interface LoadedModel extends Model {
  readonly layout: ParameterLayout;
  readonly info: Readonly<Record<string, string>>;
}

export interface LoadModelOptions {
  /** Makes the array for the parameters. Default: in shared memory. */
  readonly allocate?: (length: number) => Float32Array;
}

/**
 * Writes a model in the safetensors format, atomically: into a file beside it, which is flushed to
 * the disk and renamed. A reader, or a crash, meets the old file or the new one.
 *
 * @throws ModelError MODEL_WRITE
 * @throws RangeError if parameters or label names don't fit the shape
 */
export async function saveModel(path: string, model: Model): Promise<void> {
  const { shape, parameters, labelNames, info = {} } = model;
  const layout = parameterLayout(shape);
  if (parameters.length !== layout.length) {
    throw new RangeError(`The shape needs ${layout.length} elements, not ${parameters.length}.`);
  }
  if (labelNames !== undefined && labelNames.length !== shape.labels) {
    throw new RangeError(`${labelNames.length} label names don't fit ${shape.labels} labels.`);
  }
  const header = formatHeader({ layout, info, ...(labelNames && { labelNames }) });
  if (header.length > maxHeaderBytes) {
    const what = `${path}: label names and notes take ${header.length} bytes`;
    throw new ModelError("MODEL_WRITE", `${what}, a model file has room for ${maxHeaderBytes}.`);
  }

  const notes = Object.keys(info).length;
  if (notes > mostNotes) {
    const what = `${path}: there are ${notes} notes`;
    throw new ModelError("MODEL_WRITE", `${what}, a model file has room for ${mostNotes}.`);
  }

  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await withFile(temporary, "wx", async (file) => {
      const length = new Uint8Array(8);
      new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
      await writeAll(file, length);
      await writeAll(file, header);
      for (const { tensor } of packTensors(layout.tensors)) {
        await writeAll(file, bytesOf(parameters, tensor));
      }
      await file.sync();
    });
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    const what = `The model could not be written to ${path}: ${messageOf(error)}`;
    throw new ModelError("MODEL_WRITE", what, { cause: error });
  }
}

/**
 * Reads a model that `saveModel` wrote. The whole header is checked against the file's size before
 * anything of the network's size is allocated.
 *
 * @throws ModelError MODEL_NOT_FOUND, MODEL_UNREADABLE, MODEL_FORMAT, MODEL_TRUNCATED, MODEL_SHAPE,
 *   MODEL_NOT_FINITE
 */
export async function loadModel(
  path: string,
  { allocate = sharedFloat32 }: LoadModelOptions = {},
): Promise<LoadedModel> {
  try {
    // Not waiting: a named pipe that nobody writes to would never open. Windows has no such flag.
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
    return await withFile(path, flags, (file) => readModel(file, allocate));
  } catch (error) {
    if (error instanceof ModelError) {
      const what = `${path} can't be loaded: ${error.message}.`;
      throw new ModelError(error.code, what, { cause: error.cause });
    }
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") {
      const what = `There is no model at ${path}; give the path of a .safetensors file.`;
      throw new ModelError("MODEL_NOT_FOUND", what, { cause: error });
    }
    if (code === undefined) throw error;
    const what = `${path} can't be read: ${messageOf(error)}`;
    throw new ModelError("MODEL_UNREADABLE", what, { cause: error });
  }
}

async function readModel(
  file: FileHandle,
  allocate: (length: number) => Float32Array,
): Promise<LoadedModel> {
  const status = await file.stat();
  if (!status.isFile()) throw new ModelError("MODEL_UNREADABLE", "it is not a file");
  const { size } = status;
  if (size < 8) {
    const what = `it has ${size} bytes, which is less than any model`;
    throw new ModelError("MODEL_TRUNCATED", what);
  }
  const length = new Uint8Array(8);
  await readWhole(file, length, 0);
  const headerBytes = Number(new DataView(length.buffer).getBigUint64(0, true));
  if (length[0] === 0x1f && length[1] === 0x8b) {
    throw new ModelError("MODEL_FORMAT", "it is gzip, not a model; name a .safetensors file");
  }
  if (headerBytes > maxHeaderBytes) {
    throw new ModelError("MODEL_FORMAT", "it is not in the safetensors format");
  }
  const dataStart = 8 + headerBytes;
  if (dataStart > size) {
    const what = `its header should have ${headerBytes} bytes, but the file ends after ${size}`;
    throw new ModelError("MODEL_TRUNCATED", what);
  }
  const header = new Uint8Array(headerBytes);
  await readWhole(file, header, 8);
  const { layout, tensors, labelNames, info } = parseHeader(header, size - dataStart);

  const parameters = allocate(layout.length);
  for (const { tensor, begin } of tensors) {
    await readWhole(file, bytesOf(parameters, tensor), dataStart + begin);
    requireFinite(parameters, tensor);
  }
  return { shape: layout.shape, layout, parameters, info, ...(labelNames && { labelNames }) };
}

function requireFinite(parameters: Float32Array, { name, offset, length }: TensorView): void {
  for (let i = 0; i < length; i++) {
    const value = parameters[offset + i]!;
    if (Number.isFinite(value)) continue;
    const what = `element ${i} of tensor ${name} is ${value}, so it would predict nothing`;
    throw new ModelError("MODEL_NOT_FINITE", `${what}; train it again, or fetch it again`);
  }
}

async function withFile<T>(
  path: string,
  flags: string | number,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function readWhole(file: FileHandle, target: Uint8Array, position: number): Promise<void> {
  if (await readAll(file, target, position)) return;
  throw new ModelError("MODEL_TRUNCATED", "the file became shorter while it was read");
}

/**
 * A tensor's own bytes in the flat array. The format is little-endian, as every machine that Node's
 * kernels run on.
 */
function bytesOf(flat: Float32Array, { offset, length }: TensorView): Uint8Array {
  const size = Float32Array.BYTES_PER_ELEMENT;
  return new Uint8Array(flat.buffer, flat.byteOffset + offset * size, length * size);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
