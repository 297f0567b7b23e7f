// @ts-check
// Fuzzes the addon's boundary under AddressSanitizer and UndefinedBehaviorSanitizer: builds a variant of
// the addon with both and calls it at random (fuzz-native-calls.mjs) in a process of its own.
//
//   node scripts/fuzz-native.mjs [--calls 5000] [--seed 1]
//
// Exit codes: 0 nothing found, 1 something was found (what, is on stderr), 3 it can't be run here.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildAddon, findCompiler } from "./native-compiler.mjs";

const scripts = dirname(fileURLToPath(import.meta.url));

const { values: options } = parseArgs({
  options: { calls: { type: "string" }, seed: { type: "string" } },
});
const calls = Number(options.calls ?? 5000);
const seed = Number(options.seed ?? Math.floor(Math.random() * 2 ** 32));

/** @param {string} reason */
function cannot(reason) {
  process.stderr.write(`${reason}\n`);
  return 3;
}

async function main() {
  if (process.platform !== "linux") return cannot("the sanitizers are used on Linux only");
  const compiler = findCompiler();
  if (typeof compiler === "string") return cannot(compiler);
  const asked = spawnSync(compiler.program, [...compiler.before, "-print-file-name=libasan.so"], {
    encoding: "utf8",
  });
  const library = asked.stdout.trim();
  if (!library.includes("/")) return cannot(`${compiler.command} has no AddressSanitizer of GCC's`);

  const addon = join(scripts, "..", "build", "fuzz", "addon.node");
  const sanitizers = "-fsanitize=address,undefined";
  const failure = await buildAddon(compiler, {
    name: "fuzz",
    flags: ["-O0", "-g1", "-fno-omit-frame-pointer", sanitizers, "-fno-sanitize-recover=all"],
    output: addon,
  });
  if (failure !== undefined || !existsSync(addon))
    return cannot(`the addon can't be built: ${failure}`);

  const program = join(scripts, "fuzz-native-calls.mjs");
  const { status, signal } = spawnSync(process.execPath, [program, addon, `${calls}`, `${seed}`], {
    stdio: "inherit",
    env: {
      ...process.env,
      LD_PRELOAD: library,
      // Node frees little at its end. Sizes beyond all memory are to be refused, not fatal.
      ASAN_OPTIONS: "detect_leaks=0:allocator_may_return_null=1:abort_on_error=0",
      UBSAN_OPTIONS: "print_stacktrace=1",
    },
  });
  if (status === 0) return 0;
  process.stderr.write(
    `found with --calls ${calls} --seed ${seed} (${signal ?? `exit ${status}`})\n`,
  );
  return 1;
}

process.exitCode = await main();
