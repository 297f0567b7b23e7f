// @ts-check
// Builds headless-gl, by which gpu.js has WebGL in Node: no install does, for it takes about four minutes of a
// processor and packages of the system. Does nothing where it is built.
//
//   node node_modules/@heterosgd/gpu-kernels/scripts/setup-gl.mjs
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What each package of Debian and Ubuntu is looked for by. */
const systemPackages = {
  "build-essential": () => hasCommand("g++") && hasCommand("make"),
  python3: () => hasCommand("python3"),
  "pkg-config": () => hasCommand("pkg-config"),
  "libxi-dev": () => hasLibraries("x11", "xi", "xext"),
  // To run it: Mesa's renderer in software, and a display without a screen.
  xvfb: () => hasCommand("Xvfb"),
  xauth: () => hasCommand("xauth"),
  libgl1: () => hasSystemFile("libGL.so.1"),
  "libgl1-mesa-dri": () => hasSystemFile("dri/swrast_dri.so"),
};

const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

process.exitCode = setUp();

/** @returns {number} the exit status */
function setUp() {
  const folder = findGl();
  if (folder === undefined) {
    say("The package gl is not installed: npm install gl@8.1.6 --ignore-scripts");
    return 1;
  }
  installSystemPackages();
  if (loads(folder)) {
    say("headless-gl is built already.");
    return 0;
  }
  const jobs = availableParallelism();
  say(`Building headless-gl in ${folder}, with ${jobs} jobs …`);
  const started = Date.now();
  const gyp = createRequire(join(folder, "package.json")).resolve("node-gyp/bin/node-gyp.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [gyp, "rebuild"], {
    cwd: folder,
    env: { ...process.env, ...headersOfNode(), JOBS: String(jobs) },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0 || !loads(folder)) {
    const lines = `${stdout}\n${stderr}`.trim().split("\n");
    say(`headless-gl could not be built; the last that was said:\n${lines.slice(-30).join("\n")}`);
    return 1;
  }
  say(`Built headless-gl in ${Math.round((Date.now() - started) / 1000)} s.`);
  return 0;
}

/** Where the package gl lies that gpu.js finds, or that whoever calls this has. */
function findGl() {
  for (const from of [fileURLToPath(import.meta.url), join(process.cwd(), "package.json")]) {
    const resolve = createRequire(from);
    for (const find of [
      () => createRequire(resolve.resolve("gpu.js")).resolve("gl/package.json"),
      () => resolve.resolve("gl/package.json"),
    ]) {
      try {
        return dirname(realpathSync(find()));
      } catch {
        // The next one, then.
      }
    }
  }
  return undefined;
}

/** In a process of its own: which display there is does not matter for it. @param {string} folder */
function loads(folder) {
  const code = `require(${JSON.stringify(folder)})`;
  return spawnSync(process.execPath, ["-e", code], { stdio: "ignore" }).status === 0;
}

/** Installs what is missing, where there is apt and the right to. */
function installSystemPackages() {
  const missing = Object.entries(systemPackages)
    .filter(([, isThere]) => process.platform === "linux" && !isThere())
    .map(([name]) => name);
  if (missing.length === 0) return;
  if (!hasCommand("apt-get") || process.getuid?.() !== 0) {
    say(`Packages of the system that may be missing (their names in Debian): ${missing.join(" ")}`);
    return;
  }
  say(`Installing ${missing.join(" ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-qq"], { stdio: "ignore", env });
  const wanted = ["install", "-y", "-qq", "--no-install-recommends", ...missing];
  spawnSync("apt-get", wanted, { stdio: ["ignore", "ignore", "inherit"], env });
}

/** Node's own headers where its install has them: node-gyp would download them. */
function headersOfNode() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  return existsSync(join(prefix, "include", "node", "node.h"))
    ? { npm_config_nodedir: prefix }
    : {};
}

/** @param {string} name */
function hasCommand(name) {
  return (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, name)));
}

/** @param {...string} names as pkg-config knows them */
function hasLibraries(...names) {
  try {
    execFileSync("pkg-config", ["--exists", ...names], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** @param {string} path from where the system's libraries lie */
function hasSystemFile(path) {
  const folders = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
  ];
  return folders.some((folder) => existsSync(join(folder, path)));
}
