// @ts-check
/**
 * Checks and times the kernels on the GPUs of this machine, all by itself. After `npm run build`:
 *
 *     node packages/gpu-kernels/scripts/check-gpu.mjs
 *
 * `--technology opencl` checks OpenCL's devices, `--library FILE` the devices of another library, `--labels
 * 4000,50000` times other sizes. The last line says `passed` or `failed: …`, the exit status the same.
 */
import { spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { kernelsConformance } from "@heterosgd/model/conformance";
import { createGpuKernels, cudaSupport, openclSupport } from "../dist/index.js";
import { createMeasurement, reportSpeeds } from "./gpu-speeds.mjs";

const { values } = parseArgs({
  options: {
    technology: { type: "string", default: "cuda" },
    library: { type: "string" },
    labels: { type: "string", default: "4000,50000,670091" },
    rows: { type: "string", default: "256" },
  },
});
const { technology, library } = values;
if (technology !== "cuda" && technology !== "opencl") {
  throw new RangeError(`--technology is ${technology}, expected cuda or opencl`);
}

/** @type {string[]} */
const failures = [];

console.log(`$ node ${process.argv.slice(1).join(" ")}`);
console.log(`Node ${process.version}, ${process.platform}-${process.arch}, ${cpus()[0]?.model}`);
if (technology === "cuda") {
  const query = ["--query-gpu=name,driver_version,memory.total,memory.used,power.limit"];
  const { status, stdout } = spawnSync("nvidia-smi", [...query, "--format=csv"], {
    encoding: "utf8",
  });
  console.log(status === 0 ? stdout.trim() : "nvidia-smi can't be run");
}

const support = (technology === "cuda" ? cudaSupport : openclSupport)(
  library === undefined ? {} : { library },
);
if (support.available) {
  for (const device of support.devices) {
    const memory = `${(device.memory / 2 ** 30).toFixed(1)} GiB`;
    console.log(`\n${technology}:${device.index} ${device.name} (${device.kind}), ${memory}`);
    const create = () =>
      createGpuKernels({ technology, index: device.index, ...(library && { library }) });
    await conformance(device.name, create);
    for (const labels of values.labels.split(",").map(Number)) {
      try {
        reportSpeeds(await createMeasurement(create, { labels, rows: Number(values.rows) }));
      } catch (error) {
        fail(`${device.name}, ${labels} labels`, error);
      }
    }
  }
} else {
  failures.push(`${support.reason}; ${support.remedy}`);
}
console.log(failures.length === 0 ? "\npassed" : `\nfailed: ${failures.join(" | ")}`);
process.exitCode = failures.length === 0 ? 0 : 1;

/**
 * @param {string} device
 * @param {Parameters<typeof kernelsConformance>[0]} create
 */
async function conformance(device, create) {
  const cases = kernelsConformance(create);
  const start = performance.now();
  let passed = 0;
  for (const { name, run } of cases) {
    try {
      await run();
      passed++;
    } catch (error) {
      fail(`${device}, ${name}`, error);
    }
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`conformance: ${passed} of ${cases.length} cases pass, ${seconds} s`);
}

/**
 * @param {string} where
 * @param {unknown} error
 */
function fail(where, error) {
  const message = error instanceof Error ? error.message : String(error);
  console.log(`FAIL ${where}: ${message}`);
  failures.push(where);
}
