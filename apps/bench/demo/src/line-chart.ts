/** A line over the number of updates, drawn as SVG: what is measured, faint, and its mean over time. */

const NAMESPACE = "http://www.w3.org/2000/svg";
const WIDTH = 420;
const HEIGHT = 220;
const MARGIN = { left: 40, right: 12, top: 10, bottom: 26 };
/** Points that a line may have; beyond, two neighbours become one. */
const MOST_POINTS = 300;

export interface LineChart {
  /** Adds what was measured at update `x`, which grows from call to call. Draws nothing yet. */
  add(x: number, y: number): void;
  draw(): void;
  clear(): void;
}

export interface LineChartOptions {
  /** What the values are, for those who do not see the line. */
  readonly label: string;
  /** The top of the scale; null: what is measured decides. */
  readonly top: number | null;
  /** Values over whose mean a second line is drawn; 1 for none. */
  readonly meanOver: number;
  readonly format: (value: number) => string;
}

interface Point {
  x: number;
  y: number;
  /** Values that it stands for. */
  count: number;
}

export function createLineChart(place: HTMLElement, options: LineChartOptions): LineChart {
  const { label, top, meanOver, format } = options;
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const scale = element("g", {});
  const values = element("path", { class: meanOver === 1 ? "mean" : "values" });
  const means = element("path", { class: "mean" });
  svg.append(scale, values, means);
  place.replaceChildren(svg);
  let points: Point[] = [];
  let averages: Point[] = [];
  let recent: number[] = [];
  let perPoint = 1;

  function add(line: Point[], x: number, y: number): void {
    const last = line.at(-1);
    if (last === undefined || last.count >= perPoint) line.push({ x, y, count: 1 });
    else {
      last.y += (y - last.y) / ++last.count;
      last.x = x;
    }
  }

  function draw(): void {
    const last = points.at(-1);
    const right = Math.max(10, last?.x ?? 0);
    const high = top ?? Math.max(1, ...points.map(({ y }) => y)) * 1.05;
    const across = (x: number) => MARGIN.left + (x / right) * (WIDTH - MARGIN.left - MARGIN.right);
    const up = (y: number) =>
      HEIGHT - MARGIN.bottom - (y / high) * (HEIGHT - MARGIN.top - MARGIN.bottom);
    const path = (line: readonly Point[]) =>
      line
        .map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${across(x).toFixed(1)} ${up(y).toFixed(1)}`)
        .join("");
    values.setAttribute("d", path(points));
    means.setAttribute("d", meanOver === 1 ? "" : path(averages));
    const rows = ticks(high).flatMap((y) => [
      element("line", {
        class: "grid",
        x1: MARGIN.left,
        x2: WIDTH - MARGIN.right,
        y1: up(y),
        y2: up(y),
      }),
      text(format(y), { x: MARGIN.left - 6, y: up(y) + 4, "text-anchor": "end" }),
    ]);
    const columns = ticks(right).map((x) =>
      text(x.toLocaleString("en"), { x: across(x), y: HEIGHT - 8, "text-anchor": "middle" }),
    );
    scale.replaceChildren(...rows, ...columns);
    const now =
      last === undefined
        ? "nothing yet"
        : `${format((meanOver === 1 ? points : averages).at(-1)!.y)} after ${last.x} updates`;
    svg.setAttribute("aria-label", `${label}: ${now}`);
  }

  return {
    add(x, y) {
      if (points.length >= MOST_POINTS) {
        points = halved(points);
        averages = halved(averages);
        perPoint *= 2;
      }
      add(points, x, y);
      recent.push(y);
      if (recent.length > meanOver) recent.shift();
      add(averages, x, recent.reduce((sum, value) => sum + value, 0) / recent.length);
    },
    draw,
    clear() {
      points = [];
      averages = [];
      recent = [];
      perPoint = 1;
      draw();
    },
  };
}

function halved(line: readonly Point[]): Point[] {
  const half: Point[] = [];
  for (let i = 0; i < line.length; i += 2) {
    const [one, two] = [line[i]!, line[i + 1]];
    if (two === undefined) half.push(one);
    else {
      const count = one.count + two.count;
      half.push({ x: two.x, y: (one.y * one.count + two.y * two.count) / count, count });
    }
  }
  return half;
}

/** From three to six round numbers from 0 to `most`. */
export function ticks(most: number): readonly number[] {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((digit) => digit * power).find((size) => size >= rough)!;
  const count = Math.floor(most / step + 1e-9) + 1;
  return Array.from({ length: count }, (_, i) => Number((i * step).toPrecision(12)));
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function text(content: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = element("text", attributes);
  made.textContent = content;
  return made;
}
