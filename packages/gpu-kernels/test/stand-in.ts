/** The stand-in for CUDA's driver (stand-in/README.md), as tests use it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildStandIn } from "../scripts/build-stand-in.mjs";
import { loadKoffi } from "../src/koffi.js";

/** With the package's kernels. */
export const standIn = buildStandIn();

export type Setting =
  | "DEVICES"
  | "MEMORY"
  | "DRIVER_VERSION"
  | "CAPABILITY"
  | "ORDER"
  | "STREAMS"
  | "FAIL";

/** Of cuBLAS, as koffi declares it: handle, operations, m, n, k, alpha, a, stride, b, stride, beta, c, stride. */
export const sgemmDeclaration =
  "int cublasSgemm_v2(uint64_t, int, int, int, int, int, void *, uint64_t, int, uint64_t, int, void *, uint64_t, int)";

const defaults: Readonly<Record<Setting, string>> = {
  DEVICES: "1",
  MEMORY: String(2 ** 30),
  DRIVER_VERSION: "13000",
  CAPABILITY: "75",
  ORDER: "forward",
  STREAMS: "lazy",
  FAIL: "",
};

export interface StandInControl {
  set(setting: Setting, value: string): void;
  /** Everything as it is without environment variables. */
  reset(): void;
  readonly contexts: number;
  /** Of device memory that is taken. */
  readonly bytes: number;
  /** Uploads so far that were done while kernels still waited: none that waits for their end. */
  readonly uploadsBesideKernels: number;
  /** Of cuBLAS, that were not given back. */
  readonly handles: number;
}

export function controlOf(path: string): StandInControl {
  const loaded = loadKoffi();
  if (!loaded.ok) throw new Error(loaded.reason);
  const library = loaded.koffi.load(path);
  const set = library.func("int standInSet(const char *, const char *)") as (
    name: string,
    value: string,
  ) => number;
  const use = library.func("uint64_t standInUse(int)") as (what: number) => number | bigint;
  const change = (setting: string, value: string) => {
    if (set(setting, value) !== 1) throw new RangeError(`no ${setting} of ${value}`);
  };
  return {
    set: change,
    reset() {
      for (const [setting, value] of Object.entries(defaults)) change(setting, value);
    },
    get contexts() {
      return Number(use(0));
    },
    get bytes() {
      return Number(use(1));
    },
    get uploadsBesideKernels() {
      return Number(use(2));
    },
    get handles() {
      return Number(use(3));
    },
  };
}

/** A folder of kernels with planted faults. */
const faults = fileURLToPath(new URL("../stand-in/faults", import.meta.url));

/** The stand-in with kernels that have faults, and what a driver would load them from. */
export function standInWithFaults() {
  const built = buildStandIn(faults);
  return built.ok ? { ...built, image: declaredAsPtx(`${faults}/kernels.cu`) } : built;
}

const slots: Readonly<Record<string, readonly string[]>> = {
  POINTER: ["u64", "u64"],
  u32: ["u32"],
  float: ["f32"],
};

/** Of PTX, what the stand-in looks at, so that these tests need no nvcc. */
function declaredAsPtx(path: string): Uint8Array {
  const source = readFileSync(path, "utf8");
  const kernels = source.matchAll(/^KERNEL (?<name>\w+)\((?<list>[^{]*)\) \{/gmu);
  const entries = Array.from(
    kernels,
    ({ groups }) => `.visible .entry ${groups!["name"]}(\n${parametersOf(groups!["list"]!)}\n)\n`,
  );
  return new TextEncoder().encode(`//\n.version 6.5\n.target sm_75\n${entries.join("\n")}\0`);
}

function parametersOf(list: string): string {
  const types = list
    .split(/,(?![^(]*\))/u)
    .flatMap((parameter) => slots[/POINTER|u32|float/u.exec(parameter)![0]]!);
  return types.map((type, i) => `\t.param .${type} param_${i}`).join(",\n");
}
