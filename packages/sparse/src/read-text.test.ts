import { describe, expect, it } from "vitest";
import { errorOf } from "../test/support.js";
import { createTextReader, type TextOptions } from "./read-text.js";

function read(text: string, options: TextOptions = {}) {
  const reader = createTextReader(options);
  reader.push(new TextEncoder().encode(text));
  return reader.finish();
}

describe("createTextReader", () => {
  it("takes text for XC if its first line is three whole numbers", () => {
    expect(read("1 9 9\n1 2:3\n").format).toBe("xc");
    expect(read("\uFEFF\n\n 0  9\t9 \r\n").format).toBe("xc");
    expect(read("0 9 9").format).toBe("xc");
  });

  it("takes all other text for LIBSVM", () => {
    expect(read("1 2:3\n").format).toBe("libsvm");
    expect(read("# 1 9 9\n1\n").format).toBe("libsvm");
    expect(read(`1${" ".repeat(100_000)}2:3`).format).toBe("libsvm");
    expect(errorOf(() => read("1 9\n1 2:3\n")).code).toBe("BAD_TOKEN");
  });

  it("tells whoever has XC text without a header what to do", () => {
    expect(errorOf(() => read("1 0:1 2:3\n")).message).toContain("XC with header: false");
  });

  it("obeys where the format is named, with that format's options", () => {
    expect(read("1 0:3\n", { format: "xc", header: false }).format).toBe("xc");
    expect(read("1 0:3\n", { header: false }).format).toBe("xc");
    expect(read("1 0:3\n", { format: "libsvm", indexBase: 0 }).format).toBe("libsvm");
    expect(errorOf(() => read("1 9 9\n", { format: "libsvm" })).code).toBe("BAD_TOKEN");
    expect(() => createTextReader({ format: "csv" as "xc" })).toThrow(TypeError);
  });

  it("says so if lines of XC text end in carriage returns alone", () => {
    for (const format of ["auto", "xc"] as const) {
      const error = errorOf(() => read("1 9 9\r1 2:3\r", { format }));
      expect(error.code).toBe("BAD_TOKEN");
      expect(error.message).toContain("carriage returns stand where line feeds must");
    }
  });

  it("refuses an empty text", () => {
    expect(errorOf(() => read("")).code).toBe("EMPTY_INPUT");
  });
});
