/**
 * koffi calls the functions of the drivers' libraries. It is an optional dependency, so that it is
 * looked for only when a device is asked for, and its lack is a reason like any other.
 */
import { createRequire } from "node:module";
import { messageOf, type Lack } from "./lack.js";

export type Koffi = typeof import("koffi");

/** A function of a library. */
export type ForeignFunction = ReturnType<ReturnType<Koffi["load"]>["func"]>;

export type LoadedKoffi = { readonly ok: true; readonly koffi: Koffi } | Lack;

let loaded: LoadedKoffi | undefined;

export function loadKoffi(): LoadedKoffi {
  return (loaded ??= load());
}

function load(): LoadedKoffi {
  try {
    return { ok: true, koffi: createRequire(import.meta.url)("koffi") as Koffi };
  } catch (error) {
    const missing = (error as { code?: unknown }).code === "MODULE_NOT_FOUND";
    return {
      ok: false,
      reason: missing
        ? "the package koffi, which calls GPU drivers, is not installed"
        : `koffi can't be loaded: ${messageOf(error)}`,
      remedy:
        "install it: `npm install koffi@3.3.4`, with -g if what needs it was installed with -g",
    };
  }
}
