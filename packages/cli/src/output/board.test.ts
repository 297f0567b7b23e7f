import { expect, test } from "vitest";
import { createBoard, fitted } from "./board.js";
import type { TextStream } from "./output.js";

const ESC = "\u001b";

/** A terminal that understands what a board writes. */
function createScreen(columns: number, rows: number) {
  let lines = [""];
  let row = 0;
  let column = 0;
  const cursor = { visible: true };
  const stream: TextStream & { columns: number } = {
    isTTY: true,
    columns,
    rows,
    write(text: string) {
      for (const [token] of text.matchAll(new RegExp(`${ESC}\\[[?\\d]*[A-Za-z]|[\\s\\S]`, "g"))) {
        if (token === "\n") {
          row++;
          column = 0;
          lines[row] ??= "";
        } else if (token === "\r") column = 0;
        else if (token.endsWith("A") && token.startsWith(ESC)) row -= Number(token.slice(2, -1));
        else if (token === `${ESC}[K`) lines[row] = lines[row]!.slice(0, column);
        else if (token === `${ESC}[J`)
          lines = [...lines.slice(0, row), lines[row]!.slice(0, column)];
        else if (token === `${ESC}[?25l`) cursor.visible = false;
        else if (token === `${ESC}[?25h`) cursor.visible = true;
        else if (!token.startsWith(ESC)) {
          lines[row] = lines[row]!.slice(0, column) + token + lines[row]!.slice(column + 1);
          column++;
        }
      }
    },
  };
  return { stream, cursor, text: () => lines.join("\n").trimEnd() };
}

test("lines are drawn over themselves", () => {
  const { stream, text, cursor } = createScreen(40, 10);
  stream.write("before\n");
  const board = createBoard(stream);
  board.draw([{ text: "first line" }, { text: "second" }]);
  board.draw([{ text: "1st" }, { text: "second, longer" }]);
  expect(text()).toBe("before\n1st\nsecond, longer");
  expect(cursor.visible).toBe(false);
  board.draw([{ text: "only" }]);
  expect(text()).toBe("before\nonly");
});

test("what is said meanwhile appears above", () => {
  const { stream, text } = createScreen(40, 10);
  const board = createBoard(stream);
  board.draw([{ text: "status" }]);
  board.clear();
  stream.write("said\n");
  board.redraw();
  expect(text()).toBe("said\nstatus");
});

test("closing leaves nothing but the cursor, and drawing afterwards nothing at all", () => {
  const { stream, text, cursor } = createScreen(40, 10);
  const board = createBoard(stream);
  board.draw([{ text: "status" }]);
  board.close();
  board.close();
  board.draw([{ text: "late" }]);
  expect(text()).toBe("");
  expect(cursor.visible).toBe(true);
});

test("each frame is one write", () => {
  const writes: string[] = [];
  const board = createBoard({ write: (text: string) => writes.push(text), isTTY: true });
  board.draw([{ text: "a" }, { text: "b" }]);
  expect(writes).toHaveLength(1);
});

test("after the terminal became narrower, all rows of the broken lines are gone over", () => {
  const writes: string[] = [];
  const stream = { write: (text: string) => writes.push(text), columns: 60, rows: 24 };
  const board = createBoard(stream);
  board.draw([{ text: "x".repeat(50) }, { text: "y" }]);
  stream.columns = 30;
  board.draw([{ text: "z" }]);
  expect(writes[1]).toContain(`${ESC}[3A`);
});

test("a terminal that does not know its size is taken for 80 by 24", () => {
  const writes: string[] = [];
  const board = createBoard({ write: (text: string) => writes.push(text), columns: 0, rows: 0 });
  board.draw(Array.from({ length: 30 }, () => ({ text: "x".repeat(100) })));
  expect(writes[0]).toContain(`${"x".repeat(78)}…`);
  expect(writes[0]).toContain("  and 8 more");
});

test("lines fit the terminal, and what has no room is counted", () => {
  const lines = Array.from({ length: 6 }, (_, i) => ({ text: `${i}`.repeat(30) }));
  const shown = fitted(lines, 20, 5);
  expect(shown).toHaveLength(4);
  expect(shown[0]?.text).toBe(`${"0".repeat(18)}…`);
  expect(shown[3]?.text).toBe("  and 3 more");
});
