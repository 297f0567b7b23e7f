/** What `heterosgd devices` says of GPUs: of a stand-in for CUDA's driver that plays what a test wants. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cudaStandIn, skipped } from "../../../test-support/gpu-drivers.js";
import { run, temporaryFolder } from "./command.js";

const folder = temporaryFolder();
const LONG = 120_000;

interface Document {
  readonly gpus: readonly {
    readonly technology: string;
    readonly index: number;
    readonly name: string;
    readonly kind: string;
    readonly kernels: string | null;
    readonly memory: number;
    readonly rowsPerSecond: number | null;
    readonly reason: string | null;
  }[];
  readonly kernels: Readonly<
    Record<string, { readonly available: boolean; readonly reason?: string }>
  >;
}

/** OpenCL is left out: what it finds depends on the machine. */
async function devices(settings: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const environment = {
    HETEROSGD_CUDA_LIBRARY: cudaStandIn?.library ?? "",
    HETEROSGD_OPENCL_LIBRARY: join(folder, "no-opencl.so"),
    ...settings,
  };
  const ended = await run(["devices", ...args], { folder, environment });
  expect(ended.code, ended.stderr).toBe(0);
  return ended;
}

const documentOf = async (settings: Readonly<Record<string, string>>) => {
  const { gpus, kernels } = JSON.parse((await devices(settings, "--json")).stdout) as Document;
  return { gpus: gpus.filter(({ technology }) => technology === "cuda"), kernels };
};

describe.skipIf(skipped.cuda !== "")(
  `heterosgd devices on a machine with GPUs${skipped.cuda}`,
  { timeout: LONG },
  () => {
    const two = { CUDA_STAND_IN_DEVICES: "2", CUDA_STAND_IN_MEMORY: String(3 * 2 ** 30) };

    test("lists each with name, kind, memory and measured speed", async () => {
      const { stdout } = await devices(two);
      expect(stdout).toMatch(/^device +name +kind +kernels +memory +rows\/s$/mu);
      for (const index of [0, 1]) {
        const line = new RegExp(
          String.raw`^cuda:${index} +Stand-in ${index} +gpu +cuda +3\.00 GiB +[\d,]+$`,
          "mu",
        );
        expect(stdout).toMatch(line);
      }
      expect(stdout).toMatch(/^cuda +available; devices: 2$/mu);
      expect(stdout).toMatch(/^opencl +not available: .*no-opencl\.so can't be loaded: .+; .+$/mu);
    });

    test("says where cuBLAS makes the products", async () => {
      const withCublas = { ...two, HETEROSGD_CUBLAS: cudaStandIn!.library };
      const { gpus } = await documentOf(withCublas);
      expect(gpus.map(({ kernels }) => kernels)).toEqual(["cuda-cublas", "cuda-cublas"]);
    });

    test("gives the same as JSON", async () => {
      const { gpus, kernels } = await documentOf(two);
      expect(gpus).toMatchObject([
        { index: 0, name: "Stand-in 0", kind: "gpu", memory: 3 * 2 ** 30, reason: null },
        { index: 1, name: "Stand-in 1", kind: "gpu", memory: 3 * 2 ** 30, reason: null },
      ]);
      for (const { rowsPerSecond } of gpus) expect(rowsPerSecond).toBeGreaterThan(0);
      expect(kernels["cuda"]!.available).toBe(true);
      expect(kernels["opencl"]).toMatchObject({
        available: false,
        reason: expect.stringContaining("no-opencl.so"),
      });
    });

    test("says of one that can't be opened why, and measures the others", async () => {
      const broken = { ...two, CUDA_STAND_IN_FAIL: "cuModuleLoadData@1=218" };
      const { gpus } = await documentOf(broken);
      expect(gpus.map(({ rowsPerSecond }) => rowsPerSecond !== null)).toEqual([false, true]);
      expect(gpus[0]!.reason).toMatch(/cuModuleLoadData returns CUDA_ERROR_INVALID_PTX/u);
      const { stdout } = await devices(broken);
      expect(stdout).toMatch(/^cuda:0 +Stand-in 0 +gpu +none +3\.00 GiB +none$/mu);
      expect(stdout).toMatch(/^cuda:0 +can't be used: .*CUDA_ERROR_INVALID_PTX/mu);
    });

    test.each([
      [
        "that fails at once",
        { CUDA_STAND_IN_FAIL: "cuInit@1=999" },
        /CUDA fails: cuInit returns CUDA_ERROR_UNKNOWN/u,
      ],
      [
        "that finds no GPU",
        { CUDA_STAND_IN_DEVICES: "0" },
        /finds no GPU \(CUDA_ERROR_NO_DEVICE\)/u,
      ],
      [
        "that is too old",
        { CUDA_STAND_IN_DRIVER_VERSION: "9000" },
        /the driver is CUDA 9\.0's, the kernels need/u,
      ],
      [
        "of a GPU that is too old",
        { CUDA_STAND_IN_CAPABILITY: "61" },
        /Stand-in 0 has compute capability 6\.1/u,
      ],
    ])("gives the reason and what would help of a driver %s", async (_, settings, reason) => {
      const { stdout } = await devices(settings);
      const [line] = /^cuda +not available: .+; .+$/mu.exec(stdout)!;
      expect(line).toMatch(reason);
      expect(stdout).not.toMatch(/^cuda:0 /mu);
    });
  },
);

test("a file that is no driver is told with the loader's words", { timeout: LONG }, async () => {
  const broken = join(folder, "libcuda.so");
  writeFileSync(broken, "no library");
  const { stdout } = await devices({ HETEROSGD_CUDA_LIBRARY: broken });
  expect(stdout).toMatch(
    /^cuda +not available: .*libcuda\.so can't be loaded: .+; name another library in HETEROSGD_CUDA_LIBRARY$/mu,
  );
});
