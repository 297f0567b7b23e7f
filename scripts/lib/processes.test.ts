import { expect, it } from "vitest";
import { capture, lastLines, StepError } from "./processes.mjs";

it("captures both outputs without colours, and takes a bad exit code as a result", async () => {
  const program = "console.log('\\x1b[31mout\\x1b[0m'); console.error('err'); process.exitCode = 3";
  const { code, stdout, output } = await capture(process.execPath, ["-e", program]);
  expect(code).toBe(3);
  expect(stdout).toContain("out");
  expect(output.split("\n").toSorted()).toEqual(["", "err", "out"]);
});

it("gives 128 plus the signal's number for a program that a signal ended", async () => {
  const program = "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 10_000)";
  expect((await capture(process.execPath, ["-e", program])).code).toBe(143);
});

it("ends a program that takes too long", async () => {
  const program = "setTimeout(() => {}, 30_000)";
  expect((await capture(process.execPath, ["-e", program], { timeoutMs: 50 })).code).toBe(137);
});

it("names the program that cannot be started", async () => {
  const start = capture("no-such-program", []);
  await expect(start).rejects.toThrow(StepError);
  await expect(start).rejects.toThrow("no-such-program could not be started");
});

it("keeps the last lines of a text", () => {
  expect(lastLines("a\nb\nc\n\n", 2)).toBe("b\nc");
});
