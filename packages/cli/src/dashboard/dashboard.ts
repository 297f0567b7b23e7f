/** What `--dashboard` does. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { RunEvent } from "@heterosgd/trainer";
import { CliError } from "../errors.js";
import { createFeed } from "./feed.js";
import { pageFiles } from "./page-files.js";
import { serveDashboard } from "./serve.js";

export interface Dashboard {
  readonly url: string;
  /**
   * The run begins.
   *
   * @param events - the file that has what happened in earlier parts of it, null where there are none.
   */
  begin(name: string, events: string | null): Promise<void>;
  event(event: RunEvent): void;
  /** Shows that the run has ended, and serves no longer. */
  close(): Promise<void>;
}

/** Where nobody names a port: the first of these that is free. */
const PORTS = Array.from({ length: 20 }, (_, i) => 6464 + i);

/**
 * Serves the page of a run that is about to begin, to this machine alone.
 *
 * @param wanted - a port, 0 for any that is free, or true for the first free one of a few.
 * @throws CliError BAD_VALUE if the port cannot be had.
 */
export async function openDashboard(wanted: number | true): Promise<Dashboard> {
  const feed = createFeed();
  const files = await pageFiles();
  const ports = wanted === true ? PORTS : [wanted];
  const served = await serveDashboard(files, feed, ports).catch((cause: unknown) => {
    throw noPort(ports, cause);
  });
  return {
    url: `http://127.0.0.1:${served.port}/`,
    async begin(name, events) {
      feed.begin(name);
      if (events !== null) await readEvents(events, (event) => feed.event(event));
    },
    event: (event) => feed.event(event),
    async close() {
      await feed.end();
      await served.close();
    },
  };
}

function noPort(ports: readonly number[], cause: unknown): CliError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const which = ports.length === 1 ? `port ${ports[0]}` : `ports ${ports[0]} to ${ports.at(-1)}`;
  const why = code === "EADDRINUSE" ? "in use" : message;
  return new CliError("BAD_VALUE", `--dashboard cannot listen on 127.0.0.1, ${which}: ${why}`, {
    cause,
    hint: "name another port, or 0 for any that is free",
  });
}

/** What cannot be read of a file of events is left out: charts without it are better than no run. */
async function readEvents(path: string, onEvent: (event: unknown) => void): Promise<void> {
  const input = createReadStream(path, { encoding: "utf8" });
  try {
    for await (const line of createInterface({ input })) onEvent(JSON.parse(line));
  } catch {
    return;
  } finally {
    input.destroy();
  }
}
