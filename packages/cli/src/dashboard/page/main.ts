/** The dashboard in the browser: draws what the server says of the run. */
import { figureHtml, runFacts, runFigures, type Figure, type RunSeries } from "@heterosgd/report";
import type { FeedState } from "../feed.js";
import { mergeFigure } from "./merge-figure.js";
import { progressWords, stateWords, type Connection } from "./words.js";

const byId = (id: string) => document.getElementById(id)!;
const content = byId("content");

let latest: FeedState | null = null;
let connection: Connection = "connecting";
let isDue = false;
/** In ms, from one drawing to the next. */
let pause = 0;
/** What stands in the page, by the figures' ids. */
const shown = new Map<string, string>();

function setText(element: Element, text: string): void {
  // A screen reader tells of what has changed.
  if (element.textContent !== text) element.textContent = text;
}

function showFacts(run: RunSeries, isOver: boolean): void {
  const facts = runFacts(run).filter(([name]) => isOver || name !== "Ended because");
  const html = byId("facts");
  const texts = facts.flat();
  const elements = facts.length * 2 === html.children.length ? [...html.children] : null;
  if (elements !== null) {
    for (const [i, element] of elements.entries()) setText(element, texts[i]!);
    return;
  }
  html.replaceChildren(
    ...texts.map((text, i) => {
      const element = document.createElement(i % 2 === 0 ? "dt" : "dd");
      element.textContent = text;
      return element;
    }),
  );
}

function showFigures(figures: readonly Figure[]): void {
  let before: Element | null = null;
  for (const figure of figures) {
    const html = figureHtml(figure, { document, anchor: figure.id });
    const old = document.getElementById(figure.id);
    if (shown.get(figure.id) !== html || old === null) {
      const template = document.createElement("template");
      template.innerHTML = html;
      const fresh = template.content.firstElementChild!;
      if (old !== null) mergeFigure(old, fresh);
      else if (before === null) content.prepend(fresh);
      else before.after(fresh);
      shown.set(figure.id, html);
    }
    before = document.getElementById(figure.id);
  }
  byId("empty").hidden = figures.length > 0;
}

function draw(): void {
  isDue = false;
  const state = byId("state");
  setText(state, stateWords(latest, connection));
  state.dataset["state"] = latest?.phase === "ended" ? "ended" : connection;
  const run = latest?.run ?? null;
  if (run === null) return;
  document.title = `${run.name} – heterosgd`;
  setText(byId("title"), run.name);
  setText(byId("progress"), progressWords(run));
  showFacts(run, latest?.phase === "ended");
  showFigures(runFigures(run));
}

/** At most this part of the time goes into drawing: the processor is the run's, and the page must stay quick. */
const SHARE = 0.2;

/** Before a frame, which in a page that is not seen is when it is seen again. */
function drawSoon(): void {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    requestAnimationFrame(() => {
      const began = performance.now();
      draw();
      pause = (performance.now() - began) * (1 / SHARE - 1);
    });
  }, pause);
}

const source = new EventSource("/events");
source.addEventListener("open", () => {
  connection = "live";
  drawSoon();
});
source.addEventListener("error", () => {
  connection = "lost";
  drawSoon();
});
source.addEventListener("run", ({ data }: MessageEvent<string>) => {
  latest = JSON.parse(data) as FeedState;
  // The server is gone by now; to ask it again would only be an error.
  if (latest.phase === "ended") source.close();
  drawSoon();
});
