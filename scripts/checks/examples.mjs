// @ts-check
// Each packed tarball, installed as a stranger would into an empty project, where its README's
// first example has to run.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { transform } from "esbuild";
import { npmCommand, toolEnvironment } from "../lib/bootstrap.mjs";
import { capture, lastLines } from "../lib/processes.mjs";
import { commandLines, firstBlock } from "../lib/readme.mjs";
import { root, toolPath } from "../lib/workspace.mjs";

/**
 * @typedef {import("../lib/check.js").Tarball} Tarball
 * @typedef {import("../lib/workspace.mjs").WorkspacePackage} WorkspacePackage
 */

/** @type {import("../lib/check.js").Check} */
export const examplesCheck = {
  name: "examples",
  about: "each tarball installs alone into an empty project, where its README's first example runs",
  async run({ packages, tarballs, temporaryFolder }) {
    const packed = await tarballs();
    const problems = [];
    for (const entry of packages.filter(({ isPublic }) => isPublic)) {
      const project = temporaryFolder(entry.id);
      const problem =
        (await installAlone(project, entry.manifest.name, packed)) ??
        (entry.manifest.bin === undefined
          ? await runExample(project, entry)
          : await runCommands(project, entry));
      if (problem !== undefined) problems.push(`${entry.folder}: ${problem}`);
    }
    return { problems };
  },
};

/**
 * The package.json of a project that needs one package only; what that needs of the workspace comes
 * from the other tarballs.
 *
 * @param {string} name
 * @param {readonly Pick<Tarball, "name" | "filename">[]} packed
 */
export function projectManifest(name, packed) {
  const files = packed.map((tarball) => [tarball.name, `file:${tarball.filename}`]);
  return {
    name: "stranger",
    version: "1.0.0",
    private: true,
    type: "module",
    dependencies: Object.fromEntries(files.filter(([tarball]) => tarball === name)),
    overrides: Object.fromEntries(files.filter(([tarball]) => tarball !== name)),
  };
}

/**
 * @param {string} project
 * @param {string} name
 * @param {readonly Tarball[]} packed
 * @returns {Promise<string | undefined>} what went wrong
 */
async function installAlone(project, name, packed) {
  if (!packed.some((tarball) => tarball.name === name)) return "was not packed.";
  writeFileSync(join(project, "package.json"), JSON.stringify(projectManifest(name, packed)));
  const npm = npmCommand();
  const flags = [
    "--prefer-offline",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
  ];
  const { code, output } = await capture(npm.command, [...npm.before, "install", ...flags], {
    cwd: project,
    env: toolEnvironment(),
    shell: npm.shell,
  });
  if (code !== 0) return `npm install exited with ${code}:\n${lastLines(output, 20)}`;
  const missing = ["README.md", "LICENSE"].filter(
    (file) => !existsSync(join(project, "node_modules", name, file)),
  );
  return missing.length === 0 ? undefined : `the tarball lacks ${missing.join(", ")}.`;
}

/**
 * @param {string} project
 * @param {WorkspacePackage} entry
 * @returns {Promise<string | undefined>} what went wrong
 */
async function runExample(project, { manifest }) {
  const example = firstBlock(readme(project, manifest.name), "ts");
  if (example === undefined) return "its README has no ```ts example.";
  writeFileSync(join(project, "example.ts"), example);
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(exampleTypes));
  const types = await capture(process.execPath, [toolPath("typescript", "tsc")], { cwd: project });
  if (types.code !== 0)
    return `its README's example has type errors:\n${lastLines(types.output, 20)}`;
  const { code } = await transform(example, { loader: "ts", format: "esm", target: "es2022" });
  writeFileSync(join(project, "example.js"), code);
  const ran = await capture(process.execPath, ["example.js"], { cwd: project, timeoutMs: 60_000 });
  if (ran.code !== 0)
    return `its README's example exits with ${ran.code}:\n${lastLines(ran.output, 20)}`;
  return ran.stdout.trim() === "" ? "its README's example prints nothing." : undefined;
}

/**
 * @param {string} project
 * @param {WorkspacePackage} entry
 * @returns {Promise<string | undefined>} what went wrong
 */
async function runCommands(project, { manifest }) {
  const [command = ""] = Object.keys(manifest.bin ?? {});
  const lines = commandLines(readme(project, manifest.name), command);
  if (lines.length === 0) return `its README has no \`\`\`sh example that calls ${command}.`;
  const path = `${join(project, "node_modules", ".bin")}${delimiter}${process.env["PATH"]}`;
  for (const line of lines) {
    const ran = await capture(line, [], {
      cwd: project,
      env: { ...process.env, PATH: path },
      timeoutMs: 120_000,
      shell: true,
    });
    if (ran.code !== 0) return `\`${line}\` exits with ${ran.code}:\n${lastLines(ran.output, 20)}`;
    if (ran.output.trim() === "") return `\`${line}\` prints nothing.`;
  }
  return undefined;
}

/** How a strict user checks the example; the declarations of the packages are checked with it. */
const exampleTypes = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023", "DOM"],
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
  },
  files: ["example.ts"],
};

/**
 * @param {string} project
 * @param {string} name
 */
function readme(project, name) {
  return readFileSync(join(project, "node_modules", name, "README.md"), "utf8");
}
