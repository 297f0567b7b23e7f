import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineConfig, type Options } from "tsup";
import { base } from "../../tsup.base.js";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const thirdParty = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//;

/** Writes the licences of the packages of others that the bundle holds, as they ask for. */
const licences: Plugin = {
  name: "licences",
  setup(build) {
    build.initialOptions.metafile = true;
    build.onEnd(async ({ metafile }) => {
      const folders = new Map<string, string>();
      for (const input of Object.keys(metafile?.inputs ?? {})) {
        const [, folder, name] = thirdParty.exec(input) ?? [];
        if (folder !== undefined && name !== undefined) folders.set(folder, name);
      }
      const texts = [...folders].map(([folder, name]) => {
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
        const { version, license, author } = JSON.parse(
          readFileSync(join(folder, "package.json"), "utf8"),
        ) as Record<string, unknown>;
        const text =
          file === undefined
            ? `${String(license)}, by ${typeof author === "string" ? author : JSON.stringify(author)}`
            : readFileSync(join(folder, file), "utf8").trim();
        return `${name} ${String(version)}\n\n${text}\n`;
      });
      await mkdir("dist", { recursive: true });
      await writeFile(
        "dist/third-party-licences.txt",
        texts.toSorted().join(`\n${"-".repeat(72)}\n\n`),
      );
    });
  },
};

const page = "dashboard-page.js";

const command: Options = {
  ...base,
  // Both are built at once.
  clean: [`!${page}`],
  entry: [
    "src/main.ts",
    "src/device.worker.ts",
    "src/checkpoint.worker.ts",
    "src/gpujs-process.ts",
  ],
  platform: "node",
  // Optional, so tsup does not see to it by itself.
  external: ["@resvg/resvg-js"],
  esbuildPlugins: [licences],
};

/** The page of a run that goes on, whole: a browser has no packages. */
const browser: Options = {
  ...base,
  clean: false,
  entry: { "dashboard-page": "src/dashboard/page/main.ts" },
  platform: "browser",
  noExternal: [/./],
  minify: true,
  splitting: false,
  sourcemap: false,
};

export default defineConfig([command, browser]);
