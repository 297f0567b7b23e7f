import { styleText } from "node:util";
import { printable } from "./format.js";

/** How much is said on stderr. */
export type Verbosity = "quiet" | "normal" | "verbose";

/** The part of a terminal or pipe that output needs. */
export interface TextStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  hasColors?(): boolean;
}

export type Style = "bold" | "dim" | "green" | "red" | "yellow";

/** A line with its looks, where there are colours. */
export interface Line {
  readonly text: string;
  readonly style?: Style;
}

/** Lines that are redrawn in place, below everything else that is said. */
export interface Pinned {
  clear(): void;
  redraw(): void;
}

/** Where a verb's words go: results to stdout, everything about how it is getting on to stderr. */
export interface Output {
  readonly verbosity: Verbosity;
  /** Exactly one JSON document is wanted on stdout, no words. */
  readonly json: boolean;
  readonly stderr: TextStream;
  /** A result. Words are left out with `--json`. */
  print(text: string, style?: Style): void;
  /** The one document of `--json`. */
  document(value: unknown): void;
  /** How it is getting on. Left out with `--quiet`. */
  say(text: string): void;
  /** Details, only with `--verbose`. */
  detail(text: string): void;
  /** What must be seen in any case. */
  warn(text: string): void;
  /** Keeps lines below what is said from now on; null ends it. */
  pin(lines: Pinned | null): void;
}

export interface OutputOptions {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly verbosity: Verbosity;
  readonly json: boolean;
}

export function createOutput({ stdout, stderr, verbosity, json }: OutputOptions): Output {
  let pinned: Pinned | null = null;
  const paint = painterFor(stdout);
  const paintError = painterFor(stderr);

  function toStderr(text: string, style?: Style): void {
    const safe = printableLines(text);
    pinned?.clear();
    stderr.write(`${style === undefined ? safe : paintError(style, safe)}\n`);
    pinned?.redraw();
  }

  return {
    verbosity,
    json,
    stderr,
    print(text, style) {
      if (json) return;
      const safe = printableLines(text);
      stdout.write(`${style === undefined ? safe : paint(style, safe)}\n`);
    },
    document: (value) => void (json && stdout.write(`${JSON.stringify(value, null, 2)}\n`)),
    say(text) {
      if (verbosity !== "quiet") toStderr(text);
    },
    detail(text) {
      if (verbosity === "verbose") toStderr(text, "dim");
    },
    warn: (text) => toStderr(text, "yellow"),
    pin: (lines) => void (pinned = lines),
  };
}

function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/**
 * Styles text where the stream shows colours. Node heeds NO_COLOR and FORCE_COLOR when it is asked.
 */
export function painterFor(stream: TextStream): (style: Style, text: string) => string {
  const colours = stream.isTTY === true && stream.hasColors?.() === true;
  return (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text);
}
