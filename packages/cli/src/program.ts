/** The command line: verbs, their flags (made from the schema) and help. */
import { Command, CommanderError, Option } from "commander";
import type * as z from "zod";
import { flagName } from "./config/option-flags.js";
import { choicesOf, defaultOf, isSwitch, lookOf, optionsOf } from "./config/option-text.js";
import { checkVariables } from "./config/resolve.js";
import {
  calibrateSchema,
  evalSchema,
  inspectSchema,
  predictSchema,
  realSchema,
  simulateSchema,
  type OptionSchema,
} from "./config/schema.js";
import { CliError, exitCodes, type ExitCode } from "./errors.js";
import { createOutput, type Output } from "./output/output.js";
import { packageVersion } from "./version.js";

type Flags = Readonly<Record<string, unknown>>;

/** Does a verb's work, once its flags are known. */
type Work = (output: Output) => ExitCode | Promise<ExitCode>;

const EXIT_CODES = `
Exit codes: 0 done, 1 failure, 2 usage or configuration, 3 data, 4 no usable device,
129, 130 or 143 stopped by a signal, after saving.`;

/**
 * Runs the verb that the words name.
 *
 * @param onOutput - told of the output that the flags ask for, before the verb runs.
 * @throws CliError USAGE for words that are not understood; whatever the verb throws.
 */
export async function runProgram(
  words: readonly string[],
  onOutput: (output: Output) => void,
): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram(async (flags, work) => {
    const output = outputFor(flags);
    onOutput(output);
    checkVariables(process.env);
    exitCode = await work(output);
  });
  try {
    await program.parseAsync(understoodHelp(program, words), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help") return exitCodes.usage;
    if (error.exitCode !== 0) throw usageError(error);
  }
  return exitCode;
}

/** `help VERB` of a verb that there is not as that verb, whose error says what was meant. */
function understoodHelp(program: Command, words: readonly string[]): string[] {
  const [first, verb] = words;
  const isKnown = program.commands.some((command) => command.name() === verb);
  return first === "help" && verb !== undefined && !isKnown ? [verb] : [...words];
}

function createProgram(run: (flags: Flags, work: Work) => Promise<void>): Command {
  const program = new Command("heterosgd")
    .description(
      "Trains extreme multi-label classifiers on every device of a machine at once, however unequal.",
    )
    .version(packageVersion(), "-V, --version", "Print the version.")
    .helpOption("-h, --help", "Show help.")
    .helpCommand("help [command]", "Show the help of a command.")
    .addHelpText("after", EXIT_CODES)
    .configureOutput({ outputError: () => undefined })
    // What comes behind the name of a verb within a verb is not for the outer one.
    .enablePositionalOptions()
    .exitOverride();

  const verb = (words: string, summary: string, schema: OptionSchema | null) => {
    const command = program.command(words).description(summary);
    if (schema !== null) addOptions(command, schema);
    return command;
  };

  addOutputOptions(
    verb("train [file]", "Train a model on a data file.", realSchema)
      .optionsGroup("Configuration:")
      .option("-c, --config <file>", "JSON file with any of these options; flags win over it.")
      .option(
        "-n, --dry-run",
        "Check everything, show the plan and the memory it takes, and stop.",
      ),
  )
    .addHelpText(
      "after",
      `
Every option can also be a key of the config file (--learning-rate is "learningRate") or an environment
variable (HETEROSGD_LEARNING_RATE). Flags win, then the file, then the environment. "none" unsets an option.

Examples:
  $ heterosgd train --sample --epochs 3 --out runs/first
  $ heterosgd train train.txt.gz --test test.txt.gz --devices cpu,cpu@0.5
  $ heterosgd train --config runs/first/config.json
  $ heterosgd train --resume runs/first --epochs 20`,
    )
    .action((file: string | undefined, flags: Flags) =>
      run(flags, async (output) =>
        (await import("./commands/train.js")).trainCommand("train", file, flags, output),
      ),
    );

  addOutputOptions(
    verb(
      "simulate [file]",
      "Train a model on simulated devices: real arithmetic, and times from a profile.",
      simulateSchema,
    )
      .optionsGroup("Configuration:")
      .option("-c, --config <file>", "JSON file with any of these options; flags win over it.")
      .option("-n, --dry-run", "Check everything, show the plan, and stop."),
  )
    .addHelpText(
      "after",
      `
Every time is simulated, and the same options give the same run to the last bit. The profiles that are shipped
are assumptions, not measurements; heterosgd devices --calibrate FILE measures one of this machine.

Examples:
  $ heterosgd simulate --sample --devices gpu,gpu@0.9,gpu@0.8,gpu@0.68
  $ heterosgd simulate --sample --algorithm abs-sgd --profile cluster-slow --epochs 3
  $ heterosgd simulate --sample --devices gpu,gpu:leaves=2,gpu:joins=3@0.5`,
    )
    .action((file: string | undefined, flags: Flags) =>
      run(flags, async (output) =>
        (await import("./commands/train.js")).trainCommand("simulate", file, flags, output),
      ),
    );

  addOutputOptions(
    verb(
      "eval <model> [file]",
      "Evaluate a model, a run's or a checkpoint's, on a data file.",
      evalSchema,
    ),
  ).action((model: string, file: string | undefined, flags: Flags) =>
    run(flags, async (output) =>
      (await import("./commands/eval.js")).evalCommand(model, file, flags, output),
    ),
  );

  addOutputOptions(
    verb(
      "predict <model> [file]",
      "Predict labels for the rows of a file, or of standard input: a JSON line a row. A run's folder stands for its model, and so does a checkpoint's.",
      predictSchema,
    ),
    { json: false },
  )
    .addHelpText(
      "after",
      `
Rows are lines of xc or libsvm text; labels in them are read past, and a header is not needed. A line that
holds nothing is no row. Output: {"row":0,"line":1,"labels":[{"label":"entity","id":3,"score":0.98}]}, rows
counted from 0, lines from 1. Scores of a softmax model add up to 1 over all labels, those of a sigmoid model
are independent.

Examples:
  $ heterosgd predict runs/first/model.safetensors test.txt.gz -k 3
  $ echo "0:1 7:0.5" | heterosgd predict runs/first/model.safetensors`,
    )
    .action((model: string, file: string | undefined, flags: Flags) =>
      run(flags, async (output) =>
        (await import("./commands/predict.js")).predictCommand(model, file, flags, output),
      ),
    );

  addOutputOptions(
    verb(
      "inspect [path]",
      "Show what is in a data file, a model, a run's folder or a checkpoint.",
      inspectSchema,
    ),
  ).action((path: string | undefined, flags: Flags) =>
    run(flags, async (output) =>
      (await import("./commands/inspect.js")).inspectCommand(path, flags, output),
    ),
  );

  addOutputOptions(
    verb(
      "report <runs...>",
      "Write a page with charts of a run, or of several beside one another.",
      null,
    )
      .optionsGroup("What to write:")
      .option(
        "-o, --out <file>",
        "A page (.html), or a picture of the charts (.svg, .png). Default: report.html, of one run in its folder.",
      )
      .option("--only <charts>", "Only these charts, separated by commas.")
      .option("--title <text>", "What the page is called.")
      .option("--force", "Replace a file that is there."),
  )
    .addHelpText(
      "after",
      `
A page needs no network and no script. Runs that differ in nothing but the seed are shown as one, with their spread. A run that is
under way or was broken off is shown as far as it has come. PNG takes the optional package @resvg/resvg-js.

Charts: time-to-accuracy, time-to-target (a table), accuracy-by-rows, loss, batch-size, updates, weights,
busy (when each device trains), utilisation, shares, staleness.

Examples:
  $ heterosgd report runs/first
  $ heterosgd report runs/adaptive-1 runs/adaptive-2 runs/sync-1 runs/sync-2 --out comparison.html
  $ heterosgd report runs/first --only busy,batch-size --out devices.svg`,
    )
    .action((runs: readonly string[], flags: Flags) =>
      run(flags, async (output) =>
        (await import("./commands/report.js")).reportCommand(runs, flags, output),
      ),
    );

  const devices = addOutputOptions(
    verb(
      "devices",
      "Show what there is to train on, how fast it is, and what is missing; or measure a profile for simulate.",
      calibrateSchema,
    )
      .optionsGroup("What to do:")
      .option(
        "--calibrate <file>",
        "Measure the devices, all at once, and write a profile that simulate takes. All other options say what to measure; the bundled data where no file is named.",
      ),
  ).action((flags: Flags) =>
    run(flags, async (output) => {
      const { calibrate: file, ...others } = flags;
      if (typeof file === "string")
        return (await import("./commands/calibrate.js")).calibrateCommand(file, others, output);
      const [extra] = Object.keys(calibrateSchema.shape).filter((key) => others[key] !== undefined);
      if (extra !== undefined) {
        throw new CliError(
          "CONFLICT",
          `--${flagName(extra)} is for --calibrate, which is not there`,
        );
      }
      return (await import("./commands/devices.js")).devicesCommand(output);
    }),
  );
  addOutputOptions(
    devices
      .enablePositionalOptions()
      .helpCommand(false)
      .command("add <run> <specs...>")
      .description("Give a run that is under way more devices, such as cpu or cpu:2@0.5."),
  ).action((folder: string, specs: readonly string[], flags: Flags) =>
    run(flags, async (output) =>
      (await import("./commands/devices-add.js")).devicesAddCommand(folder, specs, output),
    ),
  );

  addOutputOptions(
    verb("config", "Print the configuration: defaults, JSON Schema or one option.", null),
    { json: false },
  )
    .optionsGroup("What to print:")
    .option(
      "--defaults",
      "Print a complete config file with the defaults. Done without any option.",
    )
    .option("--schema", "Print the JSON Schema of config files.")
    .option("--explain <key>", "Explain one option.")
    .action((flags: Flags) =>
      run(flags, async (output) =>
        (await import("./commands/config.js")).configCommand(flags, output),
      ),
    );

  return program;
}

/**
 * Adds the options of a schema as flags, without values of their own: the schema has the defaults.
 */
function addOptions(command: Command, schema: OptionSchema): void {
  for (const [key, type] of optionsOf(schema)) {
    const { group, short, value } = lookOf(type);
    const flag = flagName(key);
    const isOn = defaultOf(type);
    const help = `${type.description ?? ""}${valueWords(type)}`;
    const add = (words: string, { text = help, hidden = false } = {}) => {
      const option = new Option(words, text).helpGroup(`${group}:`);
      command.addOption(hidden ? option.hideHelp() : option);
    };
    if (isSwitch(type)) {
      const named = value === undefined ? "" : ` [${value}]`;
      // Both, so that a flag can undo what a file says; help shows the one that changes the
      // default.
      add(`--${flag}${named}`, { hidden: isOn === true });
      const text = typeof isOn === "boolean" ? help : `The opposite of --${flag}.`;
      add(`--no-${flag}`, { text, hidden: isOn === false });
    } else {
      add(`${short === undefined ? "" : `-${short}, `}--${flag} <${value}>`);
    }
  }
}

/** ` (relu, sigmoid or tanh; default: relu)` */
function valueWords(type: z.ZodType): string {
  const choices = choicesOf(type);
  const facts = [...(choices.length === 0 ? [] : [choices.join(", ")]), ...defaultWords(type)];
  return facts.length === 0 ? "" : ` (${facts.join("; ")})`;
}

function defaultWords(type: z.ZodType): readonly string[] {
  const value = defaultOf(type);
  if (value === null || typeof value === "boolean") return [];
  const text = typeof value === "string" ? value : JSON.stringify(value).replaceAll(/[[\]]/g, "");
  return [`default: ${text}`];
}

function addOutputOptions(command: Command, { json = true } = {}): Command {
  command.optionsGroup("Output:");
  if (json) command.option("--json", "Print exactly one JSON document on stdout, and no words.");
  return command
    .option("-q, --quiet", "Say nothing on stderr but warnings and errors.")
    .option("-v, --verbose", "Say more on stderr, and show where errors come from.");
}

function outputFor({ json, quiet, verbose }: Flags): Output {
  return createOutput({
    stdout: process.stdout,
    stderr: process.stderr,
    verbosity: verbose === true ? "verbose" : quiet === true ? "quiet" : "normal",
    json: json === true,
  });
}

/** Commander's message in one line: `error: unknown option '--epoch'\n(Did you mean --epochs?)`. */
function usageError({ message }: CommanderError): CliError {
  const [what = "", near] = message.replace(/^error: /, "").split("\n");
  const hint =
    near === undefined ? null : `did you mean ${near.replace(/^\(Did you mean |\?\)$/g, "")}?`;
  return new CliError("USAGE", what, { hint });
}
