import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { launchChromium, withoutChromium } from "../../../test-support/chromium.js";
import { run, start, temporaryFolder, until, writeEasyData, type Running } from "./command.js";
import { eventsOf } from "./run-events.js";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
const data = ["train.txt", "--test", "test.txt", "--hidden", "8", "-b", "8"];
// For longer than any test lasts, but not for ever; idling for the most part, which leaves the processor to the browser.
const lasting = ["--epochs", "1000000", "--max-time", "5m", "--devices", "cpu@0.05,cpu@0.02"];

beforeAll(() => writeEasyData(folder));

/** Starts a run, and waits until its page can be opened. */
async function watched(...args: string[]) {
  const running = start(["train", ...data, ...args], { folder });
  const address = () => /http:\/\/127\.0\.0\.1:\d+\//.exec(running.stderr())?.[0];
  await until(() => address() !== undefined || running.child.exitCode !== null);
  const url = address();
  if (url === undefined) throw new Error(running.stderr());
  return { running, url };
}

async function stop({ child, ended }: Running) {
  child.kill("SIGINT");
  return ended;
}

describe.skipIf(withoutChromium !== "")(`in Chromium${withoutChromium}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** The page, and all that it asked for or complained of. */
  async function open(url: string, options: BrowserContextOptions = {}) {
    const page = await browser.newPage(options);
    page.setDefaultTimeout(100_000);
    const complaints: string[] = [];
    const asked: string[] = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => void complaints.push(error.message));
    page.on("request", (asking) => void asked.push(asking.url()));
    await page.goto(url);
    return { page, complaints, foreign: () => asked.filter((each) => !each.startsWith(url)) };
  }

  const table = (page: Page) =>
    page.evaluate(() => document.querySelector("#time-to-accuracy tbody")!.innerHTML);
  const epoch = async (page: Page) =>
    Number(/^epoch ([\d.]+)/.exec((await page.locator("#progress").textContent()) ?? "")?.[1]);
  const text = (page: Page, id: string) => page.locator(`#${id}`).textContent();

  test("a run is drawn while it goes on, and to its end", async () => {
    const { running, url } = await watched(...lasting, "--out", "live", "--dashboard", "0");
    const { page, complaints, foreign } = await open(url);
    for (const id of ["time-to-accuracy", "loss", "batch-size", "updates", "weights", "busy"]) {
      const chart = page.locator(`#${id} .wide svg[role=img]`);
      await chart.waitFor();
      expect(await chart.getAttribute("aria-label"), id).not.toBe("");
      expect(await chart.locator("path, rect").count(), id).toBeGreaterThan(0);
    }
    expect(await text(page, "title")).toBe("live");
    expect(await text(page, "state")).toBe("The run goes on.");
    expect(await text(page, "facts")).toContain("adaptive-sgd");

    // What is opened stays open while all round it changes.
    await page.locator("#time-to-accuracy summary").press("Enter");
    const [before, earlier] = [await epoch(page), await table(page)];
    await page.waitForFunction(
      (html) => document.querySelector("#time-to-accuracy tbody")!.innerHTML !== html,
      earlier,
    );
    await vi.waitFor(async () => expect(await epoch(page)).toBeGreaterThan(before), 100_000);
    expect(await page.locator("#time-to-accuracy details").getAttribute("open")).not.toBeNull();

    const ended = await stop(running);
    expect(ended.code).toBe(130);
    await page.locator("#state", { hasText: "The run has ended." }).waitFor();
    expect(await text(page, "facts")).toContain("it was stopped by a signal");
    const { rows, metrics } = JSON.parse(readFileSync(path("live", "metrics.json"), "utf8")) as {
      readonly rows: number;
      readonly metrics: Readonly<Record<string, number>>;
    };
    // Shown with two decimals: up to half of the last one off.
    expect(Math.abs((await epoch(page)) - rows / 240)).toBeLessThan(0.0051);
    expect(await text(page, "progress")).toContain(`P@1 ${metrics["P@1"]!.toFixed(4)}`);
    expect(complaints).toEqual([]);
    expect(foreign()).toEqual([]);
    await page.close();
  });

  test("it fits on a phone, light and dark", async () => {
    const { running, url } = await watched(...lasting, "--out", "phone", "--dashboard", "0");
    const viewport = { width: 360, height: 740 };
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, complaints } = await open(url, { viewport, colorScheme });
      await page.locator("#shares .narrow svg").waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(viewport.width);
      const shade = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const parts = [...shade.matchAll(/\d+/g)].slice(0, 3).map(([part]) => Number(part));
      const isLight = parts.reduce((sum, part) => sum + part, 0) > 3 * 128;
      expect(isLight).toBe(colorScheme === "light");
      await page.close();
      expect(complaints).toEqual([]);
    }
    await stop(running);
  });
});

/** The first states that the feed sends, until one fits. */
async function stateOf(url: string, fits: (state: State) => boolean): Promise<State> {
  const answer = await fetch(`${url}events`);
  let text = "";
  for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    const states = [...text.matchAll(/^data: (.*)\n\n/gm)].map(
      ([, it]) => JSON.parse(it!) as State,
    );
    const found = states.find(fits);
    if (found !== undefined) return found;
  }
  throw new Error(`the feed ended: ${text.slice(0, 200)}`);
}

interface State {
  readonly phase: string;
  readonly run: { readonly rows: number; readonly evaluations: readonly unknown[] } | null;
}

test("who comes again has all that happened with the first message", async () => {
  const { running, url } = await watched(...lasting, "--out", "again", "--dashboard", "0");
  const first = await stateOf(url, ({ run: it }) => (it?.evaluations.length ?? 0) > 2);
  const second = await stateOf(url, () => true);
  expect(second.run!.evaluations.slice(0, first.run!.evaluations.length)).toEqual(
    first.run!.evaluations,
  );
  await stop(running);
});

test("a resumed run is shown from its beginning on, and config.json says nothing of it", async () => {
  const args = ["--epochs", "2", "--devices", "cpu", "--out", "parts", "--dashboard", "0"];
  expect((await run(["train", ...data, ...args], { folder })).code).toBe(0);
  const config = JSON.parse(readFileSync(path("parts", "config.json"), "utf8")) as object;
  expect(config).toMatchObject({ dashboard: false });
  const more = ["train", "--resume", "parts", "--epochs", "1000000", "--max-time", "5m"];
  const running = start([...more, "--dashboard", "0"], { folder });
  const address = () => /http:\/\/127\.0\.0\.1:\d+\//.exec(running.stderr())?.[0];
  await until(() => address() !== undefined);
  const { run: shown } = await stateOf(address()!, ({ run: it }) => (it?.rows ?? 0) > 480);
  const { code } = await stop(running);
  expect(code).toBe(130);
  expect(shown!.evaluations.length).toBeGreaterThanOrEqual(2);
  const evaluations = eventsOf(path("parts")).flatMap(({ type, ...rest }) =>
    type === "evaluation" ? [(rest as unknown as { readonly rows: number }).rows] : [],
  );
  const rows = (shown!.evaluations as readonly { readonly rows: number }[]).map((it) => it.rows);
  expect(evaluations.slice(0, rows.length)).toEqual(rows);
});

test("a port that is taken is refused before anything is read", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const args = ["--epochs", "1", "--out", "taken", "--dashboard", String(port)];
  const ended = await run(["train", ...data, ...args], { folder });
  other.close();
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(`port ${port}: in use; name another port, or 0 for any`);
  expect(ended.stderr).not.toContain("reading");
});

test("what is no port is refused, and a dry run listens nowhere", async () => {
  const bad = await run(["train", ...data, "--dashboard", "80"], { folder });
  expect(bad.code).toBe(2);
  expect(bad.stderr).toMatch(/--dashboard is 80, but must be true, false, 0 or a port from 1024/);
  const dry = await run(["train", ...data, "--dashboard", "--dry-run"], { folder });
  expect(dry.code).toBe(0);
  expect(`${dry.stdout}${dry.stderr}`).not.toContain("http://");
  const simulated = await run(["simulate", ...data, "--dashboard"], { folder });
  expect(simulated.code).toBe(2);
});

test("a viewer that never reads holds up neither the run nor its end", async () => {
  const { running, url } = await watched("--epochs", "300", "--out", "deaf", "--dashboard", "0");
  const answer = await fetch(`${url}events`);
  expect(answer.status).toBe(200);
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  await answer.body?.cancel().catch(() => undefined);
});
