// @ts-check
// Copies what the kernels load at run time to where they look for it from this package's bundle:
// beside `dist`. A file that has not changed stays, and another is replaced as a whole: a process that
// runs may have it mapped.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Folders that are copied, by the package that they are of. */
const folders = { wasm: "cpu-kernels", prebuilds: "cpu-kernels", kernels: "gpu-kernels" };

/** @param {string} folder */
function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

for (const [folder, of] of Object.entries(folders)) {
  const [from, to] = [join(here, "..", of, folder), join(here, folder)];
  const files = filesIn(from);
  for (const file of filesIn(to).filter((name) => !files.includes(name))) rmSync(join(to, file));
  for (const file of files) {
    const [source, target] = [join(from, file), join(to, file)];
    if (existsSync(target) && readFileSync(source).equals(readFileSync(target))) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, `${target}.new`);
    renameSync(`${target}.new`, target);
  }
}
