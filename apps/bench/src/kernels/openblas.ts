/**
 * The output layer as it is written over a matrix library: OpenBLAS's three products with the
 * softmax between them, all logits of the batch kept.
 */
import type { Batch } from "@heterosgd/model";
import koffi from "koffi";
import type { Helpers } from "../machine/helpers.js";

const LIBRARY = "libopenblas.so.0";
/** The constants of cblas.h. */
const ROW_MAJOR = 101;
const AS_IS = 111;
const TRANSPOSED = 112;

export interface OpenBlas {
  /** The kernels that it has chosen for this processor, e.g. `SkylakeX`. */
  readonly core: string;
  readonly setThreads: (threads: number) => void;
  /** `c = alpha · a · b + beta · c`, row-major; `a` is m × k and `b` k × n, once transposed. */
  readonly multiply: (product: Product) => void;
}

interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly alpha: number;
  readonly beta: number;
  readonly a: Float32Array;
  readonly aTransposed: boolean;
  readonly b: Float32Array;
  readonly bTransposed: boolean;
  readonly c: Float32Array;
}

/** @throws Error if the library is not installed. */
export function loadOpenBlas(): OpenBlas {
  // Either would make it slower than it is by itself.
  delete process.env["OPENBLAS_CORETYPE"];
  delete process.env["OPENBLAS_L2_SIZE"];
  const library = koffi.load(LIBRARY);
  const sgemm = library.func(
    "void cblas_sgemm(int order, int transA, int transB, int m, int n, int k, float alpha, float* a, int lda, float* b, int ldb, float beta, float* c, int ldc)",
  );
  const core = library.func("const char* openblas_get_corename()");
  const setThreads = library.func("void openblas_set_num_threads(int threads)");
  return {
    core: String(core()),
    setThreads: (threads) => void setThreads(threads),
    multiply({ m, n, k, alpha, beta, a, aTransposed, b, bTransposed, c }) {
      const [transA, lda] = aTransposed ? [TRANSPOSED, m] : [AS_IS, k];
      const [transB, ldb] = bTransposed ? [TRANSPOSED, k] : [AS_IS, n];
      sgemm(ROW_MAJOR, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, n);
    },
  };
}

/** What the output layer's step works on. */
export interface OutputStep {
  readonly batch: Batch;
  readonly hidden: Float32Array;
  readonly units: number;
  readonly classes: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array;
  /** What the gradient is multiplied by before it is added to the weights. */
  readonly scale: number;
  readonly dHidden: Float32Array;
  readonly losses: Float32Array;
}

/**
 * SGD in place on the output layer, as `Kernels.output` does it. Every row needs a label.
 *
 * @param take - allocates floats.
 */
export function openBlasOutput(
  { multiply, setThreads }: OpenBlas,
  softmax: Helpers["softmax"],
  step: OutputStep,
  threads: number,
  take: (length: number) => Float32Array,
): () => void {
  const { batch, hidden, units, classes, weights, bias, scale, dHidden, losses } = step;
  const { rows, labelOffsets, labels } = batch;
  const logits = take(rows * classes);
  const sums = take(threads * classes);
  const plain = { alpha: 1, beta: 0, aTransposed: false, bTransposed: false };
  const forward: Product = {
    ...plain,
    m: rows,
    n: classes,
    k: units,
    a: hidden,
    b: weights,
    bTransposed: true,
    c: logits,
  };
  const backward: Product = {
    ...plain,
    m: rows,
    n: units,
    k: classes,
    a: logits,
    b: weights,
    c: dHidden,
  };
  const update: Product = {
    ...plain,
    m: classes,
    n: units,
    k: rows,
    alpha: scale,
    beta: 1,
    a: logits,
    aTransposed: true,
    b: hidden,
    c: weights,
  };
  return () => {
    setThreads(threads);
    multiply(forward);
    softmax(logits, bias, scale, labelOffsets, labels, rows, classes, threads, sums, losses);
    multiply(backward);
    multiply(update);
  };
}
