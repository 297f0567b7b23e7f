import { expect, test } from "vitest";
import {
  counted,
  formatBytes,
  formatCount,
  formatSeconds,
  formatShare,
  parseDuration,
  printable,
  threeDigits,
} from "./format.js";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "0.977 KiB"],
  [1536, "1.50 KiB"],
  [5 * 2 ** 30, "5.00 GiB"],
  [200 * 2 ** 40, "200 TiB"],
])("%i bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0, "0.0 s"],
  [0.04, "40.0 ms"],
  [9.94, "9.9 s"],
  [9.96, "10 s"],
  [59.4, "59 s"],
  [59.6, "1m00s"],
  [3599.6, "1h00m"],
  [7620, "2h07m"],
  [86_400 * 3 + 3600 * 4, "3d04h"],
  [0.0123456, "12.3 ms"],
])("%d seconds are %s", (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test.each([
  ["90s", 90],
  ["1h30m", 5400],
  ["1.5m", 90],
  ["250ms", 0.25],
  ["2d", 172_800],
  [12, 12],
])("%s is a duration of %d s", (text, seconds) => {
  expect(parseDuration(text)).toBeCloseTo(seconds, 9);
});

test("numbers are grouped and rounded", () => {
  expect(formatCount(1_234_567.6)).toBe("1,234,568");
  expect(formatShare(0.1234)).toBe("12.3 %");
  expect(formatShare(1, 0)).toBe("100 %");
  expect([0, 0.01234, 1.234, 12.34, 1234].map(threeDigits)).toEqual([
    "0.00",
    "0.0123",
    "1.23",
    "12.3",
    "1,234",
  ]);
});

test("one is not many", () => {
  expect([0, 1, 1234].map((n) => counted(n, "row"))).toEqual(["0 rows", "1 row", "1,234 rows"]);
});

test("control characters of others are shown, not obeyed", () => {
  expect(printable("\u001b[31mred\u0007\u009b2J\n\u202e")).toBe(
    "\\u001b[31mred\\u0007\\u009b2J\\u000a\\u202e",
  );
  expect(printable("ünïcödé 🐈 שלום")).toBe("ünïcödé 🐈 שלום");
});
