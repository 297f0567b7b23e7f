/**
 * What viewers are sent while a run goes on: all that charts show of it, whole, at most once a second. So whoever comes
 * late or comes again has everything with the first message, and whoever is slow misses messages and nothing else.
 */
import type { ServerResponse } from "node:http";
import { collectRun, type RunCollector, type RunSeries } from "@heterosgd/report";

/** What a message holds. */
export interface FeedState {
  readonly phase: "starting" | "running" | "ended";
  /** Null until the run begins. */
  readonly run: RunSeries | null;
}

export interface Feed {
  /** The run has a name. */
  begin(name: string): void;
  /** Takes an event of the run, as `events.jsonl` has it. */
  event(event: unknown): void;
  /** Whether there are as many viewers as there may be. */
  isFull(): boolean;
  /** Keeps a response open and sends what there is, now and whenever there is more. */
  add(response: ServerResponse): void;
  /** Sends the end, and waits until it has arrived; for viewers that are slow not for long. */
  end(): Promise<void>;
}

const EVERY_MS = 1000;
/** Making messages takes no more than this part of the time of the thread that coordinates the devices. */
const SHARE = 0.02;
const MOST_VIEWERS = 32;
/** Who has taken nothing for so long is gone. */
const PATIENCE_MS = 60_000;
const END_MS = 1000;

interface Viewer {
  readonly response: ServerResponse;
  /** Which message it was sent last. */
  version: number;
  /** Since when it has not taken what it was sent, null where it has. */
  behindSince: number | null;
}

export function createFeed({
  everyMs = EVERY_MS,
  patienceMs = PATIENCE_MS,
  share = SHARE,
} = {}): Feed {
  const viewers = new Set<Viewer>();
  let collector: RunCollector | null = null;
  let phase: FeedState["phase"] = "starting";
  /** Grows with each change; the message is of the version that it was made at. */
  let version = 1;
  let message: { readonly version: number; readonly bytes: Buffer } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = everyMs;

  function current(): Buffer {
    if (message?.version !== version) {
      const began = performance.now();
      const state: FeedState = { phase, run: collector?.series() ?? null };
      const bytes = Buffer.from(`event: run\ndata: ${JSON.stringify(state)}\n\n`);
      message = { version, bytes };
      pauseMs = Math.max(everyMs, (performance.now() - began) / share);
    }
    return message.bytes;
  }

  function send(viewer: Viewer): void {
    if (viewer.response.writableNeedDrain) {
      viewer.behindSince ??= performance.now();
      if (performance.now() - viewer.behindSince > patienceMs) viewer.response.destroy();
      return;
    }
    viewer.behindSince = null;
    if (viewer.version === version) return;
    viewer.response.write(current());
    viewer.version = version;
  }

  function tick(): void {
    timer = undefined;
    viewers.forEach(send);
    schedule();
  }

  function schedule(): void {
    if (viewers.size > 0 && phase !== "ended") timer ??= setTimeout(tick, pauseMs);
  }

  return {
    begin(name) {
      collector = collectRun(name);
      phase = "running";
      version++;
    },
    event(event) {
      if (collector?.event(event) === true) version++;
    },
    isFull: () => viewers.size >= MOST_VIEWERS,
    add(response) {
      const viewer: Viewer = { response, version: 0, behindSince: null };
      viewers.add(viewer);
      response.on("close", () => viewers.delete(viewer));
      // What breaks off is a viewer that has left.
      response.on("error", () => viewers.delete(viewer));
      response.write("retry: 1000\n\n");
      send(viewer);
      schedule();
    },
    async end() {
      clearTimeout(timer);
      phase = "ended";
      version++;
      const last = [...viewers].map(
        ({ response }) => new Promise((resolve) => response.on("close", resolve)),
      );
      for (const { response } of viewers) {
        // After a message that is still under way.
        response.end(current());
      }
      let late: NodeJS.Timeout | undefined;
      await Promise.race([
        Promise.all(last),
        new Promise((resolve) => (late = setTimeout(resolve, END_MS))),
      ]);
      clearTimeout(late);
    },
  };
}
