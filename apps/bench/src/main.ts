import { Command } from "commander";
import { accuracy } from "./accuracy.js";
import { bf16 } from "./bf16.js";
import { demo, type DemoOptions } from "./demo/demo.js";
import { faults } from "./faults/faults.js";
import { gpu } from "./gpu/gpu.js";
import { gpuWorker } from "./gpu/worker.js";
import { measureKernels } from "./kernels/kernels.js";
import { parse, type ParseOptions } from "./parse.js";
import { profile } from "./profile/profile.js";
import { memory } from "./memory/memory.js";
import { peers } from "./peers/peers.js";
import { soak, type SoakOptions } from "./soak/soak.js";
import { stepWorker } from "./step/step-worker.js";
import { step } from "./step/step.js";
import { CommandFailure } from "./run-command.js";
import { reportSuite } from "./report/suite-report.js";
import { compareFolders } from "./suite/compare-report.js";
import { runSuite } from "./suite/run-suite.js";
import { SuiteError } from "./suite/suite-error.js";
import { unequal } from "./unequal.js";
import { vary } from "./vary.js";

const numbers = (text: string) => text.split(",").map(Number);
const names = (text: string) => text.split(",");

const program = new Command("bench").description("Programs that measure heterosgd.");

program
  .command("run")
  .description(
    "a suite: algorithms against each other, tuned alike, over seeds; goes on where it was",
  )
  .argument("<suite>", "a shipped suite's name, or a JSON file")
  .option("--out <folder>", "folder of the results (default: runs/bench/SUITE)")
  .option("--data <folder>", "folder of the data sets")
  .option("--only <names>", "sets, platforms and algorithms, separated by commas", names)
  .option("--seeds <list>", "seeds instead of the suite's, separated by commas", numbers)
  .option("--jobs <n>", "simulated runs at once (default: one a core)", Number)
  .option("--replace", "runs again what is there of another suite, commit or version")
  .option("--json", "one JSON document on stdout")
  .action(runSuite);

program
  .command("compare")
  .description("what moved beyond the noise between two folders of results")
  .argument("<a>", "folder of earlier results")
  .argument("<b>", "folder of later results")
  .option("--all", "shows what has not moved, too")
  .option("--markdown", "Markdown on stdout")
  .option("--json", "one JSON document on stdout")
  .action(compareFolders);

program
  .command("report")
  .description("a page of charts of a folder of results, or a picture of them")
  .argument("<folder>", "folder of results")
  .option("--out <file>", "*.html, *.svg or *.png (default: report.html in the folder)")
  .option("--only <names>", "charts, sets and platforms, separated by commas", names)
  .action(reportSuite);

program
  .command("accuracy")
  .description("P@1 on real test sets, median over seeds")
  .option("--data <folder>", "folder of the data sets")
  .option("--only <names>", "data sets, separated by commas", names)
  .option("--seeds <list>", "seeds, separated by commas", numbers)
  .option("--json", "one JSON document on stdout")
  .action(accuracy);

program
  .command("unequal")
  .description("two devices, one at half speed: how batch sizes settle, where time goes")
  .option("--data <folder>", "folder of the data sets")
  .option("--devices <list>", "devices, as heterosgd train takes them")
  .option("--epochs <n>", "epochs")
  .option("--seed <n>", "seed")
  .option("--json", "one JSON document on stdout")
  .action(unequal);

program
  .command("vary")
  .description("P@1 on held-out training rows, under every combination of some options")
  .argument("<set>", "data set")
  .argument("<option=values...>", "e.g. learning-rate=0.1,0.3; on and off for switches")
  .option("--data <folder>", "folder of the data sets")
  .option("--seeds <list>", "seeds, separated by commas", numbers)
  .option("--json", "one JSON document on stdout")
  .action(vary);

program
  .command("parse")
  .description("how fast text is read, XC and LIBSVM")
  .option("--file <path>", "a data file, plain or gzip, instead of made-up text")
  .option("--megabytes <n>", "size of the made-up texts", Number)
  .option("--rounds <n>", "rounds, after one that does not count", Number)
  .option("--json", "one JSON document on stdout")
  .action(async (options: ParseOptions) => void (await parse(options)));

program
  .command("kernels")
  .description("speed of the kernels, beside the machine's limits and OpenBLAS")
  .option("--classes <list>", "sizes of the output layer, separated by commas", numbers)
  .option("--rows <n>", "rows of a batch", Number)
  .option("--rounds <n>", "rounds, after one that does not count", Number)
  .option("--only <names>", "operations and implementations, separated by commas", names)
  .option("--json", "one JSON document on stdout")
  .action(measureKernels);

program
  .command("step")
  .description("one training step, heterosgd's and PyTorch's: rows a second, and memory")
  .option("--sets <names>", "small, medium, large, separated by commas", names)
  .option("--rounds <n>", "rounds, after one that does not count", Number)
  .option("--only <names>", "contestants, separated by commas", names)
  .option("--python <path>", "the interpreter that has PyTorch")
  .option("--json", "one JSON document on stdout")
  .action(step);

program
  .command("gpu")
  .description("checks and times the kernels of GPUs: one program, within minutes")
  .option("--devices <list>", "as in cuda,opencl:cpu (default: GPUs, else what drivers offer)")
  .option("--library <file>", "CUDA's driver library, instead of the system's")
  .option("--labels <list>", "sizes of the output layer, separated by commas", numbers)
  .option("--rows <n>", "rows of a batch", Number)
  .option("--features <n>", "features", Number)
  .option("--rounds <n>", "rounds, after one that does not count", Number)
  .option("--only <parts>", "conformance, steps, kernels, soak, mixed, separated by commas", names)
  .option("--steps <n>", "steps of the soak", Number)
  .option("--minutes <n>", "what takes longer is ended, and a failure", Number)
  .option("--python <path>", "the interpreter that has PyTorch")
  .option("--data <folder>", "folder of the data sets")
  .option("--pack <file>", "packs all that this takes into a .tgz instead")
  .option("--with-node", "packs Node as well")
  .option("--json", "one JSON document on stdout")
  .action(gpu);

program
  .command("peers")
  .description("heterosgd, PyTorch, fastText and TensorFlow.js in turn: speed, time to P@1, memory")
  .option("--data <folder>", "folder of the data sets")
  .option("--sets <names>", "data sets, separated by commas", names)
  .option("--only <names>", "torch, fasttext, tfjs, separated by commas", names)
  .option("--rounds <n>", "rounds (default: 3); those that take long have only the first", Number)
  .option("--threads <n>", "threads (default: the cores)", Number)
  .option("--epochs <n>", "epochs (default: 5)", Number)
  .option("--max-seconds <n>", "ends a training that takes longer (default: 60)", Number)
  .option("--python <path>", "the interpreter that has PyTorch")
  .option("--modules <folder>", "where npm has installed TensorFlow.js")
  .option("--tune", "tries learning rates on held-out training rows instead")
  .option("--markdown", "Markdown on stdout")
  .option("--json", "one JSON document on stdout")
  .action(peers);

program
  .command("profile")
  .description("where the time of one run goes, thread by thread and operation by operation")
  .argument("[set]", "data set", "wordnet-hypernyms")
  .argument("[options...]", "of heterosgd train, after --")
  .option("--data <folder>", "folder of the data sets")
  .option("--json", "one JSON document on stdout")
  .action(profile);

program
  .command("faults")
  .description("what failing devices, kill -9 and failing disks cost: no row, if all is well")
  .option("--only <names>", "algorithms and faults, separated by commas", names)
  .option("--quick", "a few faults for each algorithm")
  .option("--seed <n>", "decides where faults strike", Number)
  .option("--jobs <n>", "runs at once (default: one a core)", Number)
  .option("--markdown", "Markdown on stdout")
  .option("--json", "one JSON document on stdout")
  .action(faults);

program
  .command("bf16")
  .description("P@1 and time with the output layer's products in bfloat16 and without")
  .option("--data <folder>", "folder of the data sets")
  .option("--only <names>", "data sets, separated by commas", names)
  .option("--seeds <list>", "seeds, separated by commas", numbers)
  .option("--json", "one JSON document on stdout")
  .action(bf16);

program
  .command("memory")
  .description("what --dry-run says a run takes of memory, and what it takes")
  .option("--data <folder>", "folder of the data sets")
  .option("--only <names>", "data sets, separated by commas", names)
  .option("--json", "one JSON document on stdout")
  .action(memory);

program
  .command("soak")
  .description("a long run with evaluations, checkpoints and dying devices: whether it grows")
  .argument("[options...]", "of heterosgd train, after --")
  .option("--minutes <n>", "how long", Number)
  .option("--json", "one JSON document on stdout")
  .action((options: readonly string[], rest: SoakOptions) => soak({ ...rest, options }));

program
  .command("demo")
  .description("a page that trains in the browser, on WebGL; served on this machine alone")
  .option("--port <n>", "where to serve it (default: a port that is free)", Number)
  .action((options: DemoOptions) => demo(options));

program
  .command("step-worker", { hidden: true })
  .argument("<folder>")
  .requiredOption("--kernels <name>")
  .option("--threads <n>", "", Number)
  .option("--bf16")
  .action(stepWorker);

program
  .command("gpu-worker", { hidden: true })
  .argument("<part>")
  .argument("<input>")
  .action(gpuWorker);

try {
  await program.parseAsync();
} catch (error) {
  // Of other errors the stack is wanted: they are this program's.
  if (!(error instanceof SuiteError || error instanceof CommandFailure)) throw error;
  console.error(`error: ${error.message.trimEnd()}`);
  process.exitCode = error instanceof SuiteError ? 2 : 1;
}
