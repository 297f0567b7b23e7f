import { expect, test } from "vitest";
import { startLineProcess } from "./line-process.js";

const node = (script: string) => [process.execPath, "-e", script] as const;
const echo = `
  console.log(JSON.stringify({ ready: process.env.WHO ?? "nobody" }));
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    if (line === '"die"') { console.error("no more"); process.exit(3); }
    console.log(line === '"noise"' ? "not JSON" : line);
  });`;

test("questions are answered in turn, and the environment is as told", async () => {
  const process = await startLineProcess(node(echo), { WHO: "me" });
  expect(process.first).toEqual({ ready: "me" });
  expect(await process.ask({ steps: 1 })).toEqual({ steps: 1 });
  expect(await process.ask([2])).toEqual([2]);
  await process.close();
});

test("a process that dies, talks nonsense or does not exist is an error that says so", async () => {
  const dying = await startLineProcess(node(echo));
  await expect(dying.ask("die")).rejects.toThrow(/ended \(3\): no more/u);
  await dying.close();
  const noisy = await startLineProcess(node(echo));
  await expect(noisy.ask("noise")).rejects.toThrow("no JSON: not JSON");
  await noisy.close();
  await expect(startLineProcess(["/nowhere/python"])).rejects.toThrow("ENOENT");
  await expect(startLineProcess(node("process.exit(0)"))).rejects.toThrow("ended (0)");
});
