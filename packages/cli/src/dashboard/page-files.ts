/** The page that shows a run while it goes on. */
import { readFile } from "node:fs/promises";
import { pageStyles } from "@heterosgd/report";
import type { PageFiles } from "./serve.js";

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>heterosgd</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/style.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the charts</a>
<header>
<h1 id="title">heterosgd</h1>
<p id="state" role="status">connecting …</p>
<p id="progress"></p>
<dl id="facts"></dl>
</header>
<main id="content" tabindex="-1">
<p id="empty">There is nothing to draw yet.</p>
<noscript><p>The page needs JavaScript.</p></noscript>
</main>
<footer><p>Shown as long as the run goes on; <code>heterosgd report RUN</code> makes a page of it that stays.</p></footer>
</body>
</html>
`;

const styles = `
#state::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.5em;border-radius:50%;background:var(--hg-muted)}
#state[data-state="live"]::before{background:var(--hg-s1)}
#progress{font-variant-numeric:tabular-nums}
[hidden]{display:none}
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 13 6 6l3 3 5-7" fill="none" stroke="#2a78d6" stroke-width="2"/></svg>`;

/** @throws the system's error where the package is not whole. */
export async function pageFiles(): Promise<PageFiles> {
  const script = await readFile(new URL("./dashboard-page.js", import.meta.url), "utf8");
  return {
    "/": { type: "text/html; charset=utf-8", text: html },
    "/style.css": { type: "text/css; charset=utf-8", text: `${pageStyles()}${styles}` },
    "/page.js": { type: "text/javascript; charset=utf-8", text: script },
    "/icon.svg": { type: "image/svg+xml", text: icon },
  };
}
