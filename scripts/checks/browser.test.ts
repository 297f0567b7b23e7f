import { expect, it } from "vitest";
import { findChromium, pageText } from "./browser.mjs";

it("takes the browser that CHROME_PATH names before those on the PATH", () => {
  const env = { PATH: "bin", CHROME_PATH: "mine" };
  expect(findChromium(env, () => true)).toBe("mine");
  expect(findChromium(env, (path) => path.endsWith("google-chrome"))).toMatch(
    /^bin.google-chrome$/,
  );
  expect(findChromium(env, () => false)).toBeUndefined();
});

it("reads what a page shows out of its dumped document", () => {
  expect(pageText("<html><pre>a &lt; b &amp;amp; c\n</pre></html>")).toBe("a < b &amp; c\n");
  expect(pageText("<html></html>")).toBe("");
});
