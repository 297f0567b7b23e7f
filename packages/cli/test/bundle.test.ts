import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const file = (name: string) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));

/** What a file of the bundle loads from other packages and from Node, its chunks included. */
function loadedBy(name: string): ReadonlySet<string> {
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
  return loaded;
}

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
