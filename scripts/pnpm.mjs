// @ts-check
// `npm run pnpm -- add …`: the pinned pnpm, for those who have none.
import { requireNode } from "./lib/node-version.mjs";

requireNode();
const { installPnpm, pnpmCommand } = await import("./lib/bootstrap.mjs");
const { runInForeground } = await import("./lib/processes.mjs");

await installPnpm();
process.exitCode = await runInForeground(
  process.execPath,
  [pnpmCommand(), ...process.argv.slice(2)],
  {
    cwd: process.cwd(),
  },
);
