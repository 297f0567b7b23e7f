/** gpu.js and headless-gl, which are looked for only when a device is asked for. */
import { createRequire } from "node:module";
import { GpuKernelsError } from "../../errors.js";
import { messageOf, type Lack } from "../../lack.js";
import type { GpujsNodeMode } from "../api.js";
import type { GpuClass } from "../gpu-class.js";
import { withPrivateAddon } from "./private-addon.js";

export type LoadedGpujs = { readonly ok: true; readonly GPU: GpuClass } | Lack;

const packages = "build-essential python3 pkg-config libxi-dev";
const install = "npm install gpu.js@2.24.1";
const build = `\`apt-get install ${packages}\` (Debian, Ubuntu) and then \`npm rebuild gl\`, which compiles for some minutes`;

let loaded: Promise<LoadedGpujs> | undefined;

/** Loads gpu.js in this thread, and with it, where it is built, a copy of headless-gl's addon. */
export function loadGpujs(): Promise<LoadedGpujs> {
  return (loaded ??= withPrivateAddon(load));
}

async function load(): Promise<LoadedGpujs> {
  try {
    const { GPU } = (await import("gpu.js")) as unknown as { readonly GPU: GpuClass };
    return { ok: true, GPU };
  } catch (error) {
    if (codeOf(error) === "ERR_MODULE_NOT_FOUND" || codeOf(error) === "MODULE_NOT_FOUND") {
      return {
        ok: false,
        reason: "the package gpu.js is not installed",
        remedy: `install it: \`${install}\``,
      };
    }
    const reason = `gpu.js can't be loaded: ${messageOf(error)}`;
    return { ok: false, reason, remedy: `install it again: \`${install}\`` };
  }
}

/** Why WebGL can't be had here though gpu.js can. After `loadGpujs`. */
export function whyNoWebGl(): Lack {
  const lack = (reason: string, remedy: string): Lack => ({ ok: false, reason, remedy });
  let create: (width: number, height: number) => unknown;
  try {
    // As gpu.js finds it.
    const own = createRequire(createRequire(import.meta.url).resolve("gpu.js"));
    create = own("gl") as typeof create;
  } catch (error) {
    const remedy = `install it: \`npm install gl@8.1.6\`, after ${build}`;
    if (codeOf(error) === "MODULE_NOT_FOUND" && messageOf(error).includes("'gl'")) {
      return lack("the package gl (headless-gl) is not installed", remedy);
    }
    const isBuilt = !/bindings file|cannot find module/iu.test(messageOf(error));
    return isBuilt
      ? lack(`headless-gl can't be loaded: ${messageOf(error)}`, `build it again: ${build}`)
      : lack("headless-gl is installed, but not built", `build it: ${build}`);
  }
  try {
    if (create(1, 1) !== null) {
      return lack("WebGL has no textures of floats here", "use another driver of OpenGL");
    }
  } catch (error) {
    return lack(`headless-gl fails: ${messageOf(error)}`, "look for another driver of OpenGL");
  }
  const { DISPLAY } = process.env;
  if (process.platform !== "linux") {
    return lack("headless-gl gets no context of OpenGL", "install a driver of OpenGL");
  }
  return DISPLAY === undefined || DISPLAY === ""
    ? lack(
        "there is no display, which headless-gl needs",
        "run the command by `xvfb-run -a` (Debian, Ubuntu: `apt-get install xvfb xauth libgl1 libgl1-mesa-dri`)",
      )
    : lack(
        `headless-gl gets no context of OpenGL from display ${DISPLAY}`,
        "check that there is such a display and that it has GLX, or run the command by `xvfb-run -a`",
      );
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}

/** @throws GpuKernelsError GPU_UNAVAILABLE */
export function unavailable(
  mode: GpujsNodeMode,
  { reason, remedy }: Omit<Lack, "ok">,
): GpuKernelsError {
  return new GpuKernelsError("GPU_UNAVAILABLE", `gpu.js on ${mode}: ${reason}; ${remedy}`);
}
