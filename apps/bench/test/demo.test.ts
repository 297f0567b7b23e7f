/** The demonstration page as `bench demo` serves it, in Chromium. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { launchChromium, withoutChromium } from "../../../test-support/chromium.js";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
let server: ChildProcess;
let address = "";

beforeAll(async () => {
  server = spawn(process.execPath, [program, "demo"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(server.stdout!, "data")) as [Buffer];
  address = /^http:\/\/127\.0\.0\.1:\d+\//.exec(line.toString())?.[0] ?? "";
  if (address === "") throw new Error(`no address: ${line.toString()}`);
});

afterAll(() => void server.kill("SIGKILL"));

/** A page of its own, and all that it asked for or complained of. */
async function open(browser: Browser, options: BrowserContextOptions = {}) {
  const page = await browser.newPage(options);
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("request", (asking) => void asked.push(asking.url()));
  await page.goto(address);
  const foreign = () => asked.filter((url) => !url.startsWith(address) && !url.startsWith("data:"));
  return { page, complaints, foreign };
}

const number = async (page: Page, id: string) =>
  Number((await page.locator(`#${id}`).textContent())!.replaceAll(",", ""));

/** Waits until the page has made so many updates. */
const updates = (page: Page, count: number) =>
  page.waitForFunction(
    (wanted) =>
      Number(document.querySelector("#updates")!.textContent.replaceAll(",", "")) >= wanted ||
      !document.querySelector<HTMLElement>("#problem")!.hidden,
    count,
    { timeout: 180_000 },
  );

describe.skipIf(withoutChromium !== "")(`in Chromium${withoutChromium}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test("it trains on WebGL: the loss falls, P@1 comes, and nothing is asked of others", async () => {
    const { page, complaints, foreign } = await open(browser);
    await page.locator("#run:enabled").click();
    await updates(page, 2);
    const first = await number(page, "loss");
    await updates(page, 50);
    expect(await page.locator("#problem").textContent()).toBe("");
    await page.waitForFunction(() => document.querySelector("#precision")!.textContent !== "–");
    // At first every label is as likely as any other.
    expect(Math.abs(first - Math.log(1000))).toBeLessThan(0.5);
    expect(await number(page, "loss")).toBeLessThan(first - 0.3);
    expect(await number(page, "precision")).toBeGreaterThan(0.05);
    expect(await page.locator("#kernels").textContent()).toMatch(/^gpujs-webgl2?$/);
    expect(await page.locator("#renderer").textContent()).toMatch(/SwiftShader.*software renderer/);

    const line = await page.locator("#loss-chart path.mean").getAttribute("d");
    expect(line!.split("L").length).toBeGreaterThanOrEqual(49);
    expect(await page.locator("#loss-chart svg").getAttribute("aria-label")).toMatch(
      /^Loss: \d\.\d\d after \d+ updates$/,
    );

    await page.locator("#run", { hasText: "Stop" }).click();
    await page.locator("#state", { hasText: "stopped" }).waitFor();
    await page.waitForTimeout(500);
    const stopped = await number(page, "updates");
    await page.waitForTimeout(500);
    expect(await number(page, "updates")).toBe(stopped);

    await page.locator("#reset").click();
    await page.locator("#state", { hasText: "ready" }).waitFor({ timeout: 60_000 });
    expect(await page.locator("#loss").textContent()).toBe("–");
    await page.locator("#run").click();
    await updates(page, 1);
    // From the same start, over the same rows.
    expect(Math.abs((await number(page, "loss")) - first)).toBeLessThan(0.2);
    expect(complaints).toEqual([]);
    expect(foreign()).toEqual([]);
    await page.close();
  });

  test("it says so where there is no WebGL", async () => {
    const blind = await launchChromium(["--disable-3d-apis"]);
    const { page, foreign } = await open(blind);
    const problem = page.locator("#problem");
    await problem.waitFor();
    expect(await problem.textContent()).toMatch(/offers no WebGL here\. Switch hardware/);
    expect(await page.locator("#run").isDisabled()).toBe(true);
    expect(await page.locator("#renderer").textContent()).toBe("none");
    expect(foreign()).toEqual([]);
    await blind.close();
  });

  test.each(["light", "dark"] as const)(
    "it fits on a phone, %s, and is used by the keyboard",
    async (colorScheme) => {
      const viewport = { width: 360, height: 740 };
      const { page } = await open(browser, { viewport, colorScheme });
      await page.locator("#run:enabled").waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(viewport.width);
      const shade = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(shade).toBe(colorScheme === "dark" ? "rgb(20, 24, 29)" : "rgb(255, 255, 255)");
      await page.locator("#run").focus();
      await page.keyboard.press("Enter");
      await page.locator("#run", { hasText: "Stop" }).waitFor();
      await page.close();
    },
  );
});

test.each([
  ["GET", "/", {}, 200],
  ["HEAD", "/train.txt.gz", {}, 200],
  ["GET", "/package.json", {}, 404],
  ["GET", "/../package.json", {}, 404],
  ["POST", "/", {}, 405],
  ["GET", "/", { host: "example.org" }, 421],
])("%s %s with %j is answered by %d", async (method, path, headers, status) => {
  const { port } = new URL(address);
  const asking = request({ host: "127.0.0.1", port, method, path, headers }).end();
  const [answer] = (await once(asking, "response")) as [import("node:http").IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(status);
});

test("the page may load nothing but what it is made of", async () => {
  const { headers } = await fetch(address);
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
});

test("an interruption ends the command", async () => {
  const end = once(server, "exit");
  server.kill("SIGINT");
  expect(await end).toEqual([0, null]);
});
