import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A process that is asked by lines of JSON and answers each with one. */
export interface LineProcess {
  /** What it said first. */
  readonly first: unknown;
  /** @throws Error with its complaints if it ends instead of answering. */
  readonly ask: (question: unknown) => Promise<unknown>;
  /** Ends its input and waits until it has ended. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a process and waits for its first line.
 *
 * @param environment - added to this process's; undefined takes a variable away.
 * @param signal - kills it.
 * @throws Error if it cannot be started or says nothing.
 */
export async function startLineProcess(
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string | undefined>> = {},
  signal?: AbortSignal,
): Promise<LineProcess> {
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
    killSignal: "SIGKILL",
    ...(signal && { signal }),
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  // Writing to a process that has ended; that it answers nothing says as much.
  child.stdin.on("error", () => undefined);
  const failed = new Promise<Error>((resolve) => child.once("error", resolve));
  const closed = once(child, "close").catch(() => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const line = await Promise.race([lines.next(), failed]);
    if (line instanceof Error) throw line;
    if (line.done === true) {
      await closed;
      const code = child.exitCode ?? child.signalCode;
      throw new Error(`${[program, ...args].join(" ")} ended (${code}): ${complaints.trim()}`);
    }
    try {
      return JSON.parse(line.value) as unknown;
    } catch (cause) {
      throw new Error(`${program} said what is no JSON: ${line.value}`, { cause });
    }
  };
  return {
    first: await next(),
    ask(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return next();
    },
    async close() {
      child.stdin.end();
      await closed;
    },
  };
}
