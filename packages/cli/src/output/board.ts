import { painterFor, type Line, type Pinned, type TextStream } from "./output.js";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
// Terminals that know these show a frame whole; others ignore them.
const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";
const CLEAR_TO_END_OF_LINE = "\u001b[K";
const CLEAR_TO_END_OF_SCREEN = "\u001b[J";

/** Lines at the bottom of a terminal, drawn over themselves. */
export interface Board extends Pinned {
  draw(lines: readonly Line[]): void;
  /** Takes the lines away and shows the cursor again. */
  close(): void;
}

export function createBoard(stream: TextStream): Board {
  const paint = painterFor(stream);
  let lines: readonly Line[] = [];
  // What is on the screen now, as it was cut to the terminal's width then.
  let shown: readonly string[] = [];
  let open = true;

  // A terminal that does not know its size says 0.
  const columns = () => Math.max(20, stream.columns || 80);

  /**
   * To the first shown line's beginning. After a resize the terminal may have broken lines anew.
   */
  const up = () => {
    const rows = shown.reduce(
      (sum, text) => sum + Math.max(1, Math.ceil(text.length / columns())),
      0,
    );
    return rows === 0 ? "" : `\u001b[${rows}A\r`;
  };

  function draw(next: readonly Line[]): void {
    if (!open) return;
    lines = next;
    const back = up();
    const cut = fitted(next, columns(), stream.rows || 24);
    const body = cut.map(
      ({ text, style }) =>
        `${style === undefined ? text : paint(style, text)}${CLEAR_TO_END_OF_LINE}\n`,
    );
    shown = cut.map(({ text }) => text);
    stream.write(
      `${BEGIN_FRAME}${HIDE_CURSOR}${back}${body.join("")}${CLEAR_TO_END_OF_SCREEN}${END_FRAME}`,
    );
  }

  function clear(): void {
    if (shown.length > 0) stream.write(`${up()}${CLEAR_TO_END_OF_SCREEN}`);
    shown = [];
  }

  return {
    draw,
    clear,
    redraw: () => draw(lines),
    close() {
      if (!open) return;
      clear();
      open = false;
      stream.write(SHOW_CURSOR);
    },
  };
}

/**
 * As much of the lines as the terminal has room for; what is left out is counted in the last one.
 */
export function fitted(lines: readonly Line[], columns: number, rows: number): readonly Line[] {
  const room = Math.max(2, rows - 1);
  const kept =
    lines.length <= room
      ? lines
      : [
          ...lines.slice(0, room - 1),
          { text: `  and ${lines.length - room + 1} more`, style: "dim" } as const,
        ];
  // A line as wide as the terminal would wrap in some.
  return kept.map((line) =>
    line.text.length < columns ? line : { ...line, text: `${line.text.slice(0, columns - 2)}…` },
  );
}
