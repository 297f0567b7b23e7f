/** Runs programs by gpu.js on blocks of numbers that stay where it keeps them. */
import { GpuKernelsError } from "../errors.js";
import { messageOf } from "../lack.js";
import type { GpujsDeviceUse, GpujsMode } from "./api.js";
import type { GlContext, GpuClass, GpuInstance, GpuKernel, GpuTexture } from "./gpu-class.js";
import type { Program } from "./program.js";
import { copy, zeros } from "./programs.js";
import { loopLength } from "./sizes.js";

/** Numbers on the device: a texture, or an array where gpu.js has none. */
export interface Block {
  readonly length: number;
  readonly value: GpuTexture | Float32Array;
}

export interface Computer {
  readonly mode: GpujsMode;
  /** The renderer as its driver names it, or what computes in its place. */
  readonly device: string;
  /** @returns a new block of `length` results. */
  readonly run: (
    program: Program,
    length: number,
    arrays: readonly Block[],
    numbers?: readonly number[],
  ) => Block;
  readonly upload: (values: Float32Array) => Block;
  readonly zeros: (length: number) => Block;
  /** Waits for what the block was made by, and copies its first elements. */
  readonly read: (block: Block, target: Float32Array) => void;
  readonly free: (...blocks: readonly (Block | null | undefined)[]) => void;
  /** Blocks that are there, and their bytes. */
  readonly use: () => GpujsDeviceUse;
  readonly close: () => Promise<void>;
}

/**
 * How long a result is made. On WebGL it fills a square of texels whose side is odd: drivers in software compile a
 * shader anew for each combination of textures that are powers of two wide or high.
 */
function roomFor(mode: GpujsMode, length: number): number {
  if (!isWebGl(mode)) return length;
  const side = Math.max(3, Math.ceil(Math.sqrt(length / 4)));
  return 4 * (side + ((side + 1) % 2)) ** 2;
}

const isWebGl = (mode: GpujsMode): boolean => mode !== "webasm" && mode !== "cpu";

/** @throws GpuKernelsError GPU_UNAVAILABLE if gpu.js does not compute on just that */
export function openComputer(GPU: GpuClass, mode: GpujsMode): Computer {
  let gpu: GpuInstance;
  try {
    gpu = new GPU({ mode });
  } catch (error) {
    const reason = `gpu.js has no ${mode} here: ${messageOf(error)}`;
    throw new GpuKernelsError("GPU_UNAVAILABLE", reason, { cause: error });
  }
  const wanted = (gpu as { readonly Kernel?: unknown }).Kernel;
  const kernels = new Map<string, Built[]>();
  const held = new Set<Block>();
  let bytes = 0;
  let mostBytes = 0;

  function build(program: Program): Built {
    const types: Record<string, string> = {};
    for (const name of program.arrays) {
      // What is uploaded is always an array.
      const isTexture = isWebGl(mode) && program !== copy;
      types[name] = isTexture ? "MemoryOptimizedNumberTexture" : "Array";
    }
    for (const name of program.integers) types[name] = "Integer";
    for (const name of program.floats) types[name] = "Float";
    const source = `function (${Object.keys(types).join(", ")}) {\n${program.body}\n}`;
    const kernel = gpu.createKernel(source, {
      output: [1],
      argumentTypes: types,
      dynamicOutput: true,
      dynamicArguments: true,
      pipeline: true,
      // Results are textures of their own, which whoever holds them deletes.
      immutable: true,
      precision: "single",
      tactic: "precision",
      // Four numbers a texel instead of one.
      optimizeFloatMemory: isWebGl(mode),
      loopMaxIterations: loopLength,
    });
    return { kernel, length: 0 };
  }

  /**
   * A kernel that does not take what itself gave last: gpu.js would keep that as its next result's place, whatever
   * its size.
   */
  function kernelFor(program: Program, arrays: readonly Block[]): Built {
    let all = kernels.get(program.name);
    if (all === undefined) kernels.set(program.name, (all = []));
    let found = all.find(
      ({ last }) => last === undefined || arrays.every((one) => one.value !== last),
    );
    if (found === undefined) all.push((found = build(program)));
    return found;
  }

  function keep(value: GpuTexture | Float32Array, length: number): Block {
    const block: Block = { length, value };
    held.add(block);
    bytes += 4 * roomFor(mode, length);
    mostBytes = Math.max(mostBytes, bytes);
    return block;
  }

  function run(
    program: Program,
    length: number,
    arrays: readonly { readonly value: unknown }[],
    numbers: readonly number[] = [],
  ): Block {
    const built = kernelFor(program, arrays as readonly Block[]);
    const { kernel } = built;
    let value: GpuTexture | Float32Array;
    try {
      const room = roomFor(mode, length);
      if (built.length !== room) kernel.setOutput([room]);
      built.length = room;
      const values = [...arrays.map((one) => one.value), ...numbers];
      value = kernel(...(values as never[])) as GpuTexture | Float32Array;
    } catch (error) {
      const reason = `gpu.js failed in ${program.name}: ${messageOf(error)}`;
      throw new GpuKernelsError("GPU_DRIVER", reason, { cause: error });
    }
    if (kernel.kernel.constructor !== wanted) {
      const actual = kernel.kernel.constructor.name;
      const reason = `gpu.js fell back to ${actual} in ${program.name} instead of computing on ${mode}`;
      throw new GpuKernelsError("GPU_UNAVAILABLE", reason);
    }
    built.last = value;
    return keep(value, length);
  }

  const upload = (values: Float32Array): Block => run(copy, values.length, [{ value: values }]);

  function check(): void {
    const context = contextOf(gpu);
    if (context === null) return;
    if (context.isContextLost()) {
      throw new GpuKernelsError("GPU_LOST", `the WebGL context of ${device} was lost`);
    }
    const error = context.getError();
    if (error === context.NO_ERROR) return;
    if (error === context.OUT_OF_MEMORY) {
      const taken = Math.ceil(bytes / 2 ** 20);
      const reason = `${device} has no room for more: ${taken} MiB are taken, and it does not say how much it has`;
      throw new GpuKernelsError(
        "GPU_MEMORY",
        `${reason}: use smaller batches or fewer hidden units.`,
      );
    }
    throw new GpuKernelsError(
      "GPU_DRIVER",
      `WebGL reports error 0x${error.toString(16)} on ${device}`,
    );
  }

  function read({ value }: Block, target: Float32Array): void {
    const values = value instanceof Float32Array ? value : value.toArray();
    check();
    target.set(values.length === target.length ? values : values.subarray(0, target.length));
  }

  function free(...blocks: readonly (Block | null | undefined)[]): void {
    for (const block of blocks) {
      if (block == null || !held.delete(block)) continue;
      bytes -= 4 * roomFor(mode, block.length);
      if (!(block.value instanceof Float32Array)) block.value.delete();
    }
  }

  let device = "WebAssembly";
  if (mode === "cpu") device = "JavaScript";
  const first = run(zeros, 1, []);
  if (isWebGl(mode)) device = rendererOf(contextOf(gpu)!);
  free(first);

  return {
    mode,
    device,
    run,
    upload,
    zeros: (length) => run(zeros, length, []),
    read,
    free,
    use: () => ({ blocks: held.size, bytes, mostBytes }),
    async close() {
      free(...held);
      await gpu.destroy();
    },
  };
}

interface Built {
  readonly kernel: GpuKernel;
  length: number;
  last?: unknown;
}

function contextOf(gpu: GpuInstance): GlContext | null {
  const { context } = gpu as { readonly context?: GlContext | null };
  return context?.getError === undefined ? null : context;
}

/** The renderer's own name, which browsers tell only by an extension, and headless-gl by no public way. */
function rendererOf(context: GlContext): string {
  const { RENDERER } = context;
  const direct = Reflect.get(context, "_getParameterDirect") as
    | GlContext["getParameter"]
    | undefined;
  if (direct !== undefined) return String(Reflect.apply(direct, context, [RENDERER]));
  const extension = context.getExtension("WEBGL_debug_renderer_info") as {
    readonly UNMASKED_RENDERER_WEBGL: number;
  } | null;
  return String(context.getParameter(extension?.UNMASKED_RENDERER_WEBGL ?? RENDERER));
}
