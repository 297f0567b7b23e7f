/**
 * headless-gl's addon keeps its state in statics and registers once in a process, so that the second thread that loads
 * it fails. A copy of the file is another library, with statics of its own.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const addonName = "webgl.node";

/** Runs `load`, in which this thread gets the addon in a copy of its own. */
export async function withPrivateAddon<T>(load: () => Promise<T>): Promise<T> {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with `process` below
  const { dlopen } = process;
  process.dlopen = (module: object, file: string, flags?: number) => {
    const rest = flags === undefined ? [] : [flags];
    if (basename(file) !== addonName) return dlopen.call(process, module, file, ...rest);
    const folder = mkdtempSync(join(tmpdir(), "heterosgd-gl-"));
    try {
      const copy = join(folder, addonName);
      copyFileSync(file, copy);
      return dlopen.call(process, module, copy, ...rest);
    } finally {
      remove(folder);
    }
  };
  try {
    return await load();
  } finally {
    process.dlopen = dlopen;
  }
}

/** What is mapped may be deleted, except on Windows, where the system's own cleaning has to do it. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It stays until then.
  }
}
