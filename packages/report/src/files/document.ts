import { parseHTML } from "linkedom";

/** An empty document that charts can be drawn with where there is no browser. */
export function createDocument(): Document {
  return parseHTML("<!doctype html><html><body></body></html>").document;
}
