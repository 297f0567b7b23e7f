export * from "./files/file-bytes.js";
export * from "./files/model-file.js";
