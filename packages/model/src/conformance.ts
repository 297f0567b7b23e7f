export * from "./conformance/cases.js";
