/**
 * Colours. Those of series are near Okabe and Ito's set for the colour-blind, moved until each stands out from the background by 3:1 at
 * least and all can be told apart with any of the three kinds of colour blindness; the tests reckon both. Lines have dashes and
 * symbols besides.
 */

/** Colours of one background, by their names in drawings: `ink` is `var(--hg-ink)` there. */
export type Palette = Readonly<Record<ColourName, string>>;

const seriesNames = ["s1", "s2", "s3", "s4", "s5", "s6"] as const;

type SeriesName = (typeof seriesNames)[number];
/** `on-` is for text on an area of a colour. */
type ColourName = "surface" | "ink" | "muted" | "grid" | SeriesName | `on-${SeriesName}`;

export const palettes = {
  light: {
    surface: "#ffffff",
    ink: "#1b1f24",
    muted: "#59636e",
    grid: "#e3e6ea",
    s1: "#0a46a0",
    s2: "#df7400",
    s3: "#00a272",
    s4: "#a57fc4",
    s5: "#6c3100",
    s6: "#26262e",
    "on-s1": "#ffffff",
    "on-s2": "#000000",
    "on-s3": "#000000",
    "on-s4": "#000000",
    "on-s5": "#ffffff",
    "on-s6": "#ffffff",
  },
  dark: {
    surface: "#14171c",
    ink: "#e9edf2",
    muted: "#9ba5b1",
    grid: "#2d333c",
    s1: "#3faeff",
    s2: "#d08a20",
    s3: "#2f8f55",
    s4: "#b293c4",
    s5: "#ffe73c",
    s6: "#e8fffa",
    "on-s1": "#000000",
    "on-s2": "#000000",
    "on-s3": "#000000",
    "on-s4": "#000000",
    "on-s5": "#000000",
    "on-s6": "#000000",
  },
} as const satisfies Readonly<Record<string, Palette>>;

export type ThemeName = keyof typeof palettes;

/** A colour as drawings name it: the page, or whoever else shows the drawing, says what it is. */
export function colour(name: ColourName): string {
  return `var(--hg-${name})`;
}

/** Declarations of a palette's colours for a style sheet. */
export function declarations(theme: ThemeName): string {
  return Object.entries(palettes[theme])
    .map(([name, value]) => `--hg-${name}:${value}`)
    .join(";");
}

/** A drawing with the colours of one theme in place of their names, for what knows no style sheets. */
export function withColours(svg: string, theme: ThemeName): string {
  return svg.replaceAll(
    /var\(--hg-([a-z0-9-]+)\)/g,
    (whole, name: string) => (palettes[theme] as Readonly<Record<string, string>>)[name] ?? whole,
  );
}

/** How a line or an area is told from others. */
export interface Look {
  readonly stroke: string;
  /** For text on an area of that colour. */
  readonly on: string;
  /** An SVG dash array; empty for a whole line. */
  readonly dash: string;
  readonly symbol: (typeof symbols)[number];
}

const dashes = ["", "7 3", "2 3", "9 3 2 3"] as const;
const symbols = ["circle", "square", "triangle", "diamond", "times", "star", "plus"] as const;

/** @param index - from 0 on; twelve are different in colour and dash. */
export function lookOf(index: number): Look {
  const name = seriesNames[index % seriesNames.length]!;
  return {
    stroke: colour(name),
    on: colour(`on-${name}`),
    dash: dashes[(index + Math.floor(index / 12)) % dashes.length]!,
    symbol: symbols[index % symbols.length]!,
  };
}
