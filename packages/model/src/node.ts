export * from "./files/model-file.js";
