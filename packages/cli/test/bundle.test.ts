import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const file = (name: string) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));

/** What a file of the bundle loads at once, its chunks included: from other packages and from Node, and what files it is. */
function partsOf(name: string): {
  readonly loaded: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
} {
  const loaded = new Set<string>();
  const seen = new Set<string>();
  const visit = (each: string) => {
    if (seen.has(each)) return;
    seen.add(each);
    const imports = readFileSync(file(each), "utf8").matchAll(
      /^(?:import|export)\b[^"']*?["']([^"']+)["'];?$/gm,
    );
    for (const [, source = ""] of imports) {
      if (source.startsWith("./")) visit(source.slice(2));
      else loaded.add(source);
    }
  };
  visit(name);
  return { loaded, files: seen };
}

const loadedBy = (name: string) => partsOf(name).loaded;

test("a device's worker loads no validation and no command line", () => {
  const loaded = loadedBy("device.worker.js");
  expect(loaded).toContain("comlink");
  const packages = [...loaded].filter((name) => !isBuiltin(name));
  expect(packages).toEqual(["comlink"]);
});

test("the bundle holds the workspace's packages and leaves the others to npm", () => {
  expect(loadedBy("main.js")).toContain("commander");
  expect([...loadedBy("main.js")].filter((name) => name.startsWith("@heterosgd"))).toEqual([]);
});

test("charts are loaded by the report alone, and the licences of what draws them are there", () => {
  const text = (name: string) => readFileSync(file(name), "utf8");
  const loaders = readdirSync(file("")).filter(
    (name) => name.endsWith(".js") && text(name).includes("observablehq"),
  );
  expect(loaders.length).toBeGreaterThan(0);
  for (const name of ["main.js", "device.worker.js"]) {
    expect(loaders.filter((loader) => partsOf(name).files.has(loader))).toEqual([]);
  }
  const licences = text("third-party-licences.txt");
  for (const name of ["@observablehq/plot", "d3-shape", "linkedom"]) {
    expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, "m"));
  }
});
