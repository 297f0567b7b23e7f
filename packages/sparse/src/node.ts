export { datasetFingerprint } from "./node/fingerprint.js";
export { fileBytes, unpackedBytes } from "./node/file-bytes.js";
export { type FileOptions, readDatasetFile } from "./node/read-file.js";
export { readNames } from "./node/read-names.js";
export { writeDatasetFile, type WriteFileOptions } from "./node/write-file.js";
