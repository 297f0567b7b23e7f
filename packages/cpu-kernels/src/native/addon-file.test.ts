import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  mkdirSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packageRoot } from "../package-root.js";
import { addonInterface } from "./addon-file.js";
import { loadAddonOf } from "./addon.js";

const system = `${process.platform}-${process.arch}`;
const built = join(fileURLToPath(packageRoot), "prebuilds", system);
const isBuilt = existsSync(built);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "addon-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const lackOf = (of: string) => {
  const loaded = loadAddonOf(of);
  return loaded.ok ? "it was loaded" : `${loaded.reason}; ${loaded.remedy}`;
};

/** Makes the folder a clone's, with sources. */
function addSources(): void {
  mkdirSync(join(folder, "native"));
  writeFileSync(join(folder, "native", "addon.cc"), "");
}

describe.skipIf(!isBuilt)("a built addon", () => {
  let path = "";
  beforeEach(() => {
    cpSync(built, join(folder, "prebuilds", system), { recursive: true });
    const name = readdirSync(built).find((file) => file.endsWith(".node"))!;
    path = join(folder, "prebuilds", system, name);
  });

  function replaceBy(binary: Uint8Array, version: number): void {
    writeFileSync(path, binary);
    const sha256 = createHash("sha256").update(binary).digest("hex");
    const manifest = { interface: version, isas: [], bytes: binary.length, sha256 };
    writeFileSync(`${path}.json`, JSON.stringify(manifest));
  }

  test("is loaded where it is whole", () => {
    expect(lackOf(folder)).toBe("it was loaded");
  });

  test("is not mapped when it is truncated, which would end the process", () => {
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, 300_000));
    const damage = `${path} is damaged: 300000 bytes, ${whole.length} expected`;
    expect(lackOf(folder)).toBe(`${damage}; reinstall the package`);
    addSources();
    expect(lackOf(folder)).toBe(`${damage}; \`npm run build\` makes it again`);
  });

  test("is not mapped when a byte is another", () => {
    const binary = readFileSync(path);
    binary[5000]! ^= 1;
    writeFileSync(path, binary);
    expect(lackOf(folder)).toContain("is damaged: its SHA-256 is not that of its manifest");
  });

  test("is not mapped without a manifest", () => {
    rmSync(`${path}.json`);
    expect(lackOf(folder)).toContain("has no valid manifest beside it");
    writeFileSync(`${path}.json`, "null");
    expect(lackOf(folder)).toContain("has no valid manifest beside it");
  });

  test("of another interface is refused by its manifest", () => {
    replaceBy(readFileSync(path), addonInterface + 1);
    expect(lackOf(folder)).toContain(
      `has interface ${addonInterface + 1}, expected ${addonInterface}: it is of another version`,
    );
  });

  test("that is no binary at all is a reason", () => {
    replaceBy(Buffer.from("no binary"), addonInterface);
    expect(lackOf(folder)).toContain("the addon can't be loaded: ");
  });
});

describe("where there is none, the reason and what helps", () => {
  test("are the package's", () => {
    const other = "solaris-sparc";
    mkdirSync(join(folder, "prebuilds", other), { recursive: true });
    expect(lackOf(folder)).toBe(
      `the package has no addon for this system, ${system} (it has those for ${other}); use one of these systems`,
    );
    rmSync(join(folder, "prebuilds"), { recursive: true });
    expect(lackOf(folder)).toBe(
      `the package has no addon for this system, ${system}; reinstall the package, or use a supported system (see the README)`,
    );
  });

  test("are the build's in a clone", () => {
    addSources();
    expect(lackOf(folder)).toBe("the addon was not built; `npm run build` makes it again");
    mkdirSync(join(folder, "prebuilds"));
    const path = join(folder, "prebuilds", `${system}.reason.txt`);
    writeFileSync(path, "no compiler\ninstall one\n");
    expect(lackOf(folder)).toBe("no compiler; install one");
  });
});
