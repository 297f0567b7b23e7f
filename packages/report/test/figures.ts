import { collectRun } from "../src/series/collect-run.js";
import type { RunSeries } from "../src/series/run-series.js";

export function seriesOf(events: readonly unknown[], name = "made-up"): RunSeries {
  const collector = collectRun(name);
  for (const event of events) collector.event(event);
  return collector.series();
}

/**
 * Names of a text's elements, in order: what is not well-formed XML is an error. No declarations, comments and
 * sections, which drawings have none of.
 */
export function elementsOf(xml: string): readonly string[] {
  const names: string[] = [];
  const open: string[] = [];
  const attributes = /^(\s+[A-Za-z_:][\w:.-]*="(?:[^<&"]|&(?:amp|lt|gt|quot|#39);)*")*\s*$/;
  let at = 0;
  for (const { 0: tag, 1: slash, 2: name = "", 3: rest = "", 4: empty, index } of xml.matchAll(
    /<(\/?)([A-Za-z][\w-]*)((?:[^"<>]|"[^"]*")*?)(\/?)>/g,
  )) {
    requireText(xml.slice(at, index));
    at = index + tag.length;
    if (slash === "/") {
      const opened = open.pop();
      if (opened !== name) throw new Error(`</${name}> closes <${opened}>`);
      continue;
    }
    if (!attributes.test(rest)) throw new Error(`attributes of <${name}>: ${rest}`);
    names.push(name);
    if (empty !== "/") open.push(name);
  }
  requireText(xml.slice(at));
  if (open.length > 0) throw new Error(`<${open.join("><")}> is not closed`);
  return names;
}

function requireText(text: string): void {
  if (/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/.test(text))
    throw new Error(`text ${JSON.stringify(text)}`);
}
