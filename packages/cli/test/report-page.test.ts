/** The page of a real run in Chromium. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { launchChromium, withoutChromium } from "../../../test-support/chromium.js";
import { run, temporaryFolder } from "./command.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const folder = temporaryFolder();
const address = pathToFileURL(join(folder, "run/report.html")).href;

describe.skipIf(withoutChromium !== "")(`the page of a run${withoutChromium}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    const options = "--devices cpu,cpu@0.5 --hidden 16 --epochs 2 --out run --quiet";
    const ended = await run(`train --sample ${options}`.split(" "), { folder });
    if (ended.code !== 0) throw new Error(ended.stderr);
    const reported = await run(["report", "run"], { folder });
    if (reported.code !== 0) throw new Error(reported.stderr);
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test("shows the run’s charts, complains of nothing and asks for nothing", async () => {
    const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    page.on("pageerror", (error) => void complaints.push(error.message));
    page.on("request", (asked) => {
      if (asked.url() !== address) complaints.push(`asked for ${asked.url()}`);
    });
    await page.goto(address);
    const names = await page
      .getByRole("img")
      .evaluateAll((charts) =>
        charts.map((chart) => chart.getAttribute("aria-label")!.split(".")[0]),
      );
    expect(names).toEqual([
      "Accuracy over time",
      "Accuracy by rows processed",
      "Training loss",
      "Batch size of each device",
      "Updates of each device",
      "Merge weights",
      "When each device trains",
      "What each device does with its time",
      "Each device’s share of the work",
    ]);
    const texts = await page.locator("figure#batch-size .wide text").allTextContents();
    expect(texts).toEqual(
      expect.arrayContaining(["device 0 (cpu)", "device 1 (cpu@0.5)", "rows of a batch"]),
    );
    expect(await page.getByText("24,000 rows (2.00 epochs)").count()).toBe(1);
    // A table has what the chart draws: two evaluations of three measures.
    await page.getByText("Data of “Accuracy over time”").click();
    expect(await page.locator("figure#time-to-accuracy tbody tr").count()).toBe(6);
    expect(complaints).toEqual([]);
  });
});
