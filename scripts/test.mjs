// @ts-check
// `npm test`: installs and builds what is out of date, makes every check, and ends with one line of
// counts.
import { requireNode } from "./lib/node-version.mjs";

requireNode();
const { parseArgs } = await import("node:util");
const { build, install } = await import("./lib/bootstrap.mjs");
const { createContext } = await import("./lib/context.mjs");
const { StepError } = await import("./lib/processes.mjs");
const { countsLine, runChecks } = await import("./lib/report.mjs");

const usage = `Usage: npm test [-- OPTIONS]
  --only NAME[,NAME]  make these checks only
  --list              list the checks
With REQUIRE=all in the environment, what would be skipped fails.
`;

/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`);

process.exitCode = await main(process.argv.slice(2));

/**
 * @param {string[]} parameters
 * @returns {Promise<number>}
 */
async function main(parameters) {
  /** @type {{ only?: string, list?: boolean, help?: boolean }} */
  let options;
  try {
    options = parseArgs({
      args: parameters,
      options: {
        only: { type: "string" },
        list: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return 2;
  }
  if (options.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  try {
    await install();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    print(error.message);
    print(countsLine({ passed: 0, failed: 1, skipped: 0 }));
    return 1;
  }
  // Some checks load installed packages, so they are loaded only now.
  const { checks } = await import("./checks/index.mjs");
  if (options.list === true) {
    const width = Math.max(...checks.map(({ name }) => name.length));
    for (const { name, about } of checks) print(`${name.padEnd(width)}  ${about}`);
    return 0;
  }
  const wanted = options.only?.split(",");
  const unknown = wanted?.filter((name) => !checks.some((check) => check.name === name)) ?? [];
  if (unknown.length > 0) {
    process.stderr.write(
      `There is no check named ${unknown.join(", ")}. The checks are ${checks.map(({ name }) => name).join(", ")}.\n`,
    );
    return 2;
  }
  const chosen = checks.filter(({ name }) => wanted === undefined || wanted.includes(name));
  const context = createContext();
  const requireAll = process.env["REQUIRE"] === "all";
  try {
    // The build comes first, since most checks look at what it makes; if it fails, the others still
    // tell what they can.
    const built = await runChecks([buildCheck()], context, { lanes: 1, requireAll, print });
    const rest = await runChecks(chosen, context, { lanes: 2, requireAll, print });
    const counts = {
      passed: built.passed + rest.passed,
      failed: built.failed + rest.failed,
      skipped: built.skipped + rest.skipped,
    };
    print(countsLine(counts));
    return counts.failed === 0 ? 0 : 1;
  } finally {
    context.dispose();
  }
}

/** @returns {import("./lib/check.js").Check} */
function buildCheck() {
  return {
    name: "build",
    about: "every package builds",
    async run() {
      await build({ keepGoing: true });
      return { problems: [] };
    },
  };
}
