// @ts-check
import { readFileSync } from "node:fs";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { readJson, root } from "../lib/workspace.mjs";
import { join } from "node:path";

/** @type {import("../lib/check.js").Check} */
export const publintCheck = {
  name: "publint",
  about: "publint has nothing to say about the packed packages",
  async run({ packages, tarballs }) {
    const packed = await tarballs();
    const problems = await Promise.all(
      packed.map(async ({ name, filename }) => {
        const tarball = Uint8Array.from(readFileSync(filename)).buffer;
        const { messages } = await publint({ pack: { tarball }, strict: true });
        const folder = packages.find(({ manifest }) => manifest.name === name)?.folder ?? "";
        const manifest = readJson(join(root, folder, "package.json"));
        return messages.map(
          (message) => `${name}: ${formatMessage(message, manifest, { color: false })}`,
        );
      }),
    );
    return { problems: problems.flat(), note: `${packed.length} packages` };
  },
};
