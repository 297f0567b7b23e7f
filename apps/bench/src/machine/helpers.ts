/**
 * The bench's own C++, compiled when a program needs it and called through koffi: what JavaScript
 * cannot measure by itself.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import koffi, { type LibraryHandle } from "koffi";
import { ownFile } from "../own-files.js";

/** An instruction set that the peak is measured for, and how to compile for it. */
interface PeakBuild {
  readonly isa: string;
  readonly lanes: number;
  readonly flags: readonly string[];
}

/** What every x86-64 has is measured without flags, and so is what another processor has. */
const peakBuilds: readonly PeakBuild[] = [
  { isa: "avx512", lanes: 16, flags: ["-mavx512f", "-mprefer-vector-width=512"] },
  { isa: "avx2", lanes: 8, flags: ["-mavx2", "-mfma"] },
  { isa: "portable", lanes: 4, flags: [] },
];

export interface Helpers {
  /** Processor time of the calling thread, in seconds. */
  readonly threadSeconds: () => number;
  /** For each instruction set asked for: runs some rounds and returns the operations done. */
  readonly peaks: ReadonlyMap<string, (rounds: number) => number>;
  /** Memory that only `bandwidth` uses. @throws Error if there is none. */
  readonly take: (length: number) => unknown;
  readonly read: (from: unknown, length: number) => void;
  readonly readWrite: (values: unknown, length: number) => void;
  readonly triad: (to: unknown, a: unknown, b: unknown, length: number) => void;
  /** See `bench_softmax` in native/helpers.cc. */
  readonly softmax: (
    logits: Float32Array,
    bias: Float32Array,
    biasScale: number,
    labelOffsets: Uint32Array,
    labels: Uint32Array,
    rows: number,
    classes: number,
    threads: number,
    sums: Float32Array,
    losses: Float32Array,
  ) => void;
}

/**
 * Compiles and loads the helpers with `CXX`, by default g++.
 *
 * @param isas - the instruction sets that the processor has, of `avx512`, `avx2`, `portable`.
 * @throws Error that says what is missing.
 */
export function loadHelpers(isas: readonly string[]): Helpers {
  const compiler = process.env["CXX"] ?? "g++";
  // OpenMP's threads would spin after their loop, on the cores that OpenBLAS's own threads want next.
  process.env["OMP_WAIT_POLICY"] ??= "PASSIVE";
  const sources = fileURLToPath(ownFile("native/"));
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-bench-"));
  const compile = (source: string, name: string, flags: readonly string[]) => {
    const path = join(folder, `${name}.so`);
    const common = ["-O3", "-std=c++17", "-shared", "-fPIC", "-ffp-contract=fast"];
    const args = [...common, ...flags, "-o", path, join(sources, source)];
    try {
      execFileSync(compiler, args, { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
    } catch (error) {
      const { stderr, message } = error as Error & { readonly stderr?: string };
      throw new Error(`${compiler} cannot compile ${source}: ${stderr?.trim() || message}`, {
        cause: error,
      });
    }
    return koffi.load(path);
  };
  try {
    const peaks = peakBuilds
      .filter(({ isa }) => isas.includes(isa))
      .map(({ isa, lanes, flags }) => {
        const library = compile("peak.cc", `peak-${isa}`, [...flags, `-DLANES=${lanes}`]);
        const run = library.func("double bench_peak(long rounds, float factor, float term)");
        // Sums that tend to 2, far from numbers that processors are slow with.
        return [isa, (rounds: number) => run(rounds, 0.5, 1) as number] as const;
      });
    const native = ["-march=native", "-mprefer-vector-width=512", "-fopenmp"];
    const strict = ["-fno-math-errno", "-fno-trapping-math"];
    const helpers = compile("helpers.cc", "helpers", [...native, ...strict]);
    return { peaks: new Map(peaks), ...functionsOf(helpers) };
  } finally {
    // What is loaded stays loaded without its file.
    rmSync(folder, { recursive: true });
  }
}

function functionsOf(library: LibraryHandle): Omit<Helpers, "peaks"> {
  const take = library.func("void* bench_take(size_t length)");
  const read = library.func("float bench_read(void* from, size_t length)");
  const readWrite = library.func("void bench_read_write(void* values, size_t length, float by)");
  const triad = library.func(
    "void bench_triad(void* to, void* a, void* b, size_t length, float factor)",
  );
  return {
    threadSeconds: library.func("double bench_thread_seconds()"),
    take(length) {
      const memory: unknown = take(length);
      if (memory === null) throw new Error(`there is no memory for ${length} floats`);
      return memory;
    },
    read,
    readWrite: (values, length) => void readWrite(values, length, 1),
    triad: (to, a, b, length) => void triad(to, a, b, length, 0.5),
    softmax: library.func(
      "void bench_softmax(float* logits, float* bias, float bias_scale, uint32_t* label_offsets, uint32_t* labels, size_t rows, size_t classes, int threads, float* sums, float* losses)",
    ),
  };
}
