/**
 * Compiles `assembly/` to `wasm/kernels.wasm`, unless that is newer than all it is made of.
 *
 * The module imports a shared memory that belongs to its users: it must bring no data of its own,
 * since every thread that instantiates it would write them there again.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const output = "wasm/kernels.wasm";
const dataSection = 11;

const sources = readdirSync(join(root, "assembly")).map((name) => join("assembly", name));
const madeOf = [...sources, "scripts/build-wasm.mjs", "package.json"];

const changed = (path) => statSync(join(root, path)).mtimeMs;
const isUpToDate =
  existsSync(join(root, output)) && madeOf.every((path) => changed(path) <= changed(output));

if (!isUpToDate) {
  mkdirSync(join(root, "wasm"), { recursive: true });
  const { default: compiler } = await import("assemblyscript/asc");
  let messages = "";
  const options =
    `assembly/index.ts --outFile ${output} -O3 --noAssert --runtime stub --use abort= ` +
    "--enable simd --enable threads --importMemory --sharedMemory --initialMemory 1 --maximumMemory 65536";
  const stderr = { write: (text) => (messages += text) };
  const { error } = await compiler.main([...options.split(" "), "--baseDir", root], { stderr });
  if (error !== null) {
    console.error(`${messages}assembly/ does not compile: ${error.message}`);
    process.exit(1);
  }
  const bytes = readFileSync(join(root, output));
  if (sectionsOf(bytes).includes(dataSection)) {
    rmSync(join(root, output));
    console.error(`${output} brings data, which would overwrite what lies in the shared memory.`);
    process.exit(1);
  }
  console.log(`${output}: ${bytes.length} bytes`);
}

/** The ids of a module's sections. */
function sectionsOf(bytes) {
  const ids = [];
  for (let at = 8; at < bytes.length;) {
    ids.push(bytes[at++]);
    let size = 0;
    for (let shift = 0, more = true; more; shift += 7) {
      const byte = bytes[at++];
      size += (byte & 0x7f) * 2 ** shift;
      more = byte >= 0x80;
    }
    at += size;
  }
  return ids;
}
