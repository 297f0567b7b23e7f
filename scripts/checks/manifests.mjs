// @ts-check
import { readJson, root } from "../lib/workspace.mjs";
import { join } from "node:path";

/** @type {import("../lib/check.js").Check} */
export const manifestsCheck = {
  name: "manifests",
  about: "public packages say what the house asks for, and pack what users need and nothing else",
  async run({ packages, tarballs }) {
    const { engines } = readJson(join(root, "package.json"));
    const packed = await tarballs();
    const problems = packages
      .filter(({ isPublic }) => isPublic)
      .flatMap(({ folder, manifest }) => [
        ...manifestProblems(manifest, engines.node).map(
          (problem) => `${folder}/package.json ${problem}`,
        ),
        ...contentProblems(
          packed.find(({ name }) => name === manifest.name)?.files.map(({ path }) => path) ?? [],
        ).map((problem) => `${folder} ${problem}`),
      ]);
    return { problems };
  },
};

/**
 * @param {import("../lib/workspace.mjs").Manifest & Record<string, any>} manifest
 * @param {string} node the root's engines.node
 * @returns {readonly string[]}
 */
export function manifestProblems(manifest, node) {
  /** @type {readonly (readonly [boolean, string])[]} */
  const rules = [
    [manifest["type"] === "module", 'needs "type": "module".'],
    [manifest["license"] === "Apache-2.0", 'needs "license": "Apache-2.0".'],
    [!!manifest["description"], "needs a description."],
    [
      manifest.engines?.["node"] === node,
      `needs "engines": { "node": "${node}" }, as the root has.`,
    ],
    [manifest["publishConfig"]?.access === "public", 'needs publishConfig.access "public".'],
    [manifest["publishConfig"]?.provenance === true, "needs publishConfig.provenance."],
    [manifest.bin !== undefined || manifest["sideEffects"] !== undefined, "needs sideEffects."],
    [manifest.exports?.["./package.json"] === "./package.json", 'must export "./package.json".'],
    [manifest.files?.includes("README.md") === true, 'must list README.md in "files".'],
    [manifest["scripts"]?.install === undefined, "must not run a script at install."],
    [manifest["scripts"]?.postinstall === undefined, "must not run a script at install."],
  ];
  return rules.filter(([kept]) => !kept).map(([, problem]) => problem);
}

/**
 * @param {readonly string[]} paths what a tarball contains
 * @returns {readonly string[]}
 */
export function contentProblems(paths) {
  const problems = [];
  if (!paths.includes("README.md")) problems.push("packs no README.md.");
  if (!paths.some((path) => /^dist\/.*\.js$/.test(path))) problems.push("packs nothing built.");
  const unwanted = paths.filter((path) => /\.test\.|^(src|test)\/|tsbuildinfo|\.tgz$/.test(path));
  if (unwanted.length > 0) problems.push(`packs what users do not need: ${unwanted.join(", ")}.`);
  return problems;
}
