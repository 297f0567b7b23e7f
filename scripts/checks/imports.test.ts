import { describe, expect, it } from "vitest";
import { workspacePackages } from "../lib/workspace.mjs";
import {
  allowedImports,
  builtinProblems,
  directionProblems,
  importedModules,
  manifestProblems,
} from "./imports.mjs";

describe("importedModules", () => {
  it("finds every kind of import", () => {
    const source = `
      import { a } from "one";
      import type { B } from 'two';
      export * from "three";
      import "four";
      const five = await import("five");
      import {
        c,
      } from "six";
    `;
    expect(importedModules(source)).toEqual(["one", "two", "three", "four", "five", "six"]);
  });

  it("leaves comments alone", () => {
    expect(importedModules(`/** import { a } from "one"; */\n// import "two"\n`)).toEqual([]);
  });
});

describe("allowedImports", () => {
  it("has a place for every package of the workspace", () => {
    for (const { id } of workspacePackages()) expect(allowedImports).toHaveProperty(id);
  });

  it("has no circle: what a package may import may not import it", () => {
    for (const [id, allowed] of Object.entries(allowedImports)) {
      for (const above of allowed) expect(allowedImports[above] ?? []).not.toContain(id);
    }
  });
});

describe("directionProblems", () => {
  const trainer = { id: "trainer", folder: "packages/trainer" };
  const model = { id: "model", folder: "packages/model" };

  it("lets a package import what stands above it, itself and others' packages", () => {
    const source = `import "@heterosgd/sparse/node"; import "@heterosgd/trainer"; import "zod";`;
    expect(directionProblems(trainer, "src/a.ts", source)).toEqual([]);
  });

  it("refuses what stands beside or below, entry points and types included", () => {
    const source = `
      import type { A } from "@heterosgd/scheduler";
      import { b } from "@heterosgd/trainer/node";
      import "heterosgd";
    `;
    expect(directionProblems(model, "src/a.ts", source)).toEqual([
      "packages/model/src/a.ts imports scheduler, which does not stand above it.",
      "packages/model/src/a.ts imports trainer, which does not stand above it.",
      "packages/model/src/a.ts imports cli, which does not stand above it.",
    ]);
  });

  it("refuses a path that leaves the package", () => {
    const source = `import "../../sparse/src/csr.js"; import "../index.js";`;
    expect(directionProblems(model, "src/a/b.ts", source)).toEqual([]);
    expect(directionProblems(model, "src/b.ts", source)).toHaveLength(1);
  });
});

describe("manifestProblems", () => {
  const entry = (id: string, manifest: object) => ({
    id,
    folder: `packages/${id}`,
    manifest: { name: id, version: "0.0.0", ...manifest },
  });

  it("refuses dependencies that point down, for development as well", () => {
    const model = entry("model", { devDependencies: { "@heterosgd/trainer": "workspace:*" } });
    expect(manifestProblems(model).join()).toContain("depends on trainer");
  });

  it("refuses any dependency of a package that must stand alone", () => {
    expect(manifestProblems(entry("merge", { dependencies: { zod: "1" } }))).toHaveLength(1);
    expect(manifestProblems(entry("merge", { devDependencies: { zod: "1" } }))).toEqual([]);
  });

  it("asks for a place in the list for a new package", () => {
    expect(manifestProblems(entry("serve", {})).join()).toContain("has no place in the list");
  });
});

describe("builtinProblems", () => {
  it("follows the main entry's own imports, and no others", () => {
    const files = new Map([
      ["src/index.ts", `export * from "./a/b.js";`],
      ["src/a/b.ts", `import "../c.js"; import "./b.js";`],
      ["src/c.ts", `import { readFileSync } from "fs"; import "node:zlib";`],
      ["src/node.ts", `import "node:path";`],
    ]);
    expect(builtinProblems("packages/sparse", files)).toEqual([
      "packages/sparse/src/c.ts imports fs, but the main entry reaches it.",
      "packages/sparse/src/c.ts imports node:zlib, but the main entry reaches it.",
    ]);
  });
});
