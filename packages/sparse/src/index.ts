export type * from "./types.js";
export { type SparseErrorCode, SparseError, type TextPosition } from "./errors.js";
export {
  type Allocate,
  allocatePrivate,
  allocateShared,
  createCsr,
  createDataset,
  csrFrom,
  datasetBytes,
  type DatasetCounts,
  datasetFrom,
  type DatasetFromOptions,
  MAX_COUNT,
} from "./layout.js";
export {
  type BuilderOptions,
  createDatasetBuilder,
  csrFromRows,
  type DatasetBuilder,
  datasetFromRows,
  type RowInput,
} from "./builder.js";
export type {
  LibsvmOptions,
  ReadOptions,
  ReadResult,
  ReadStats,
  TextFormat,
  TextReader,
  XcOptions,
} from "./read-options.js";
export type { ByteStream } from "./internal/read-all.js";
export { createXcReader, readXc } from "./read-xc.js";
export { createLibsvmReader, readLibsvm } from "./read-libsvm.js";
export { createTextReader, type TextOptions } from "./read-text.js";
export { writeLibsvm, type WriteLibsvmOptions, writeXc } from "./write-text.js";
export {
  createRandom,
  fillPermutation,
  type Random,
  restoreRandom,
  type RowSplit,
  splitRows,
} from "./random.js";
export { forEachRow, maxEntriesOfRows, type RowSlice, selectRows, sliceRows } from "./slice.js";
export { type BatchBuffers, createBatchBuffers, gatherBatch } from "./batch.js";
export {
  type DatasetStatistics,
  datasetStatistics,
  type FrequencyBucket,
  type LengthStatistics,
} from "./statistics.js";
