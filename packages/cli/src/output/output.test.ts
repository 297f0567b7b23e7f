import { expect, test } from "vitest";
import { createOutput, painterFor, type OutputOptions } from "./output.js";

function outputWith(options: Partial<OutputOptions>) {
  const written = { out: "", error: "" };
  const output = createOutput({
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { write: (text: string) => (written.error += text) },
    verbosity: "normal",
    json: false,
    ...options,
  });
  return { output, written };
}

function sayEverything(options: Partial<OutputOptions>) {
  const { output, written } = outputWith(options);
  output.print("result", "bold");
  output.document({ a: 1 });
  output.say("word");
  output.detail("detail");
  output.warn("warning");
  return written;
}

test("words go to stderr, results to stdout", () => {
  expect(sayEverything({})).toEqual({ out: "result\n", error: "word\nwarning\n" });
});

test("with json, stdout gets the document alone", () => {
  const { out } = sayEverything({ json: true });
  expect(JSON.parse(out)).toEqual({ a: 1 });
});

test("quiet leaves warnings, verbose adds details", () => {
  expect(sayEverything({ verbosity: "quiet" }).error).toBe("warning\n");
  expect(sayEverything({ verbosity: "verbose" }).error).toBe("word\ndetail\nwarning\n");
});

test("words that hold control characters command no terminal", () => {
  const { output, written } = outputWith({});
  output.print("a\u001b[2J\nb");
  output.say("a\rb");
  expect(written).toEqual({ out: "a\\u001b[2J\nb\n", error: "a\\u000db\n" });
});

test("pinned lines are taken away for a word and drawn again", () => {
  const { output, written } = outputWith({});
  output.pin({
    clear: () => void (written.error += "<clear>"),
    redraw: () => void (written.error += "<redraw>"),
  });
  output.say("word");
  output.pin(null);
  output.say("more");
  expect(written.error).toBe("<clear>word\n<redraw>more\n");
});

test("colours are for terminals that have them", () => {
  const write = () => undefined;
  expect(painterFor({ write, isTTY: true, hasColors: () => true })("bold", "x")).toContain("[1m");
  expect(painterFor({ write, isTTY: true, hasColors: () => false })("bold", "x")).toBe("x");
  expect(painterFor({ write })("bold", "x")).toBe("x");
});
