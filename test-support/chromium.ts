/** Chromium, driven by Playwright, for tests of pages; null-like with a reason where there is none. */
import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { findChromium } from "../scripts/checks/browser.mjs";

const path = findChromium(process.env, existsSync);

/** Why such tests are skipped, to be read in their names; empty where they are not. */
export const withoutChromium =
  path === undefined ? " (skipped: no Chromium found on the PATH or by CHROME_PATH)" : "";

/**
 * Starts it without a window, with a profile of its own, and silent towards any network. There is no GPU
 * where tests run: WebGL is drawn by software.
 */
export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  if (path === undefined) throw new Error("no Chromium found on the PATH or by CHROME_PATH");
  return chromium.launch({
    executablePath: path,
    args: [
      "--no-sandbox",
      "--no-first-run",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      ...args,
    ],
  });
}
