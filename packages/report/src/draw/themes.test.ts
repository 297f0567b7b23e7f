/** Whether everybody can see the charts, by the definitions of WCAG 2.2 and of Machado et al. (2009). */
import { describe, expect, test } from "vitest";
import { lookOf, palettes, withColours, type ThemeName } from "./themes.js";

type Triple = readonly [number, number, number];

const themes = Object.keys(palettes) as ThemeName[];

function linear(hex: string): Triple {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = linear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [one, other] = [luminance(a), luminance(b)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** What is seen of linear colours, with none and with the three kinds of colour blindness. */
const sights: Readonly<Record<string, readonly Triple[]>> = {
  trichromacy: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** CIELAB of a colour as it is seen. */
function seen(hex: string, sight: readonly Triple[]): Triple {
  const colour = linear(hex);
  const mixed = (row: Triple) => {
    const value = row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
    return Math.min(1, Math.max(0, value));
  };
  const [red, green, blue] = [mixed(sight[0]!), mixed(sight[1]!), mixed(sight[2]!)];
  const f = (value: number) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
  const y = f(0.2126 * red + 0.7152 * green + 0.0722 * blue);
  const z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

describe.each(themes)("the colours of the %s theme", (theme) => {
  const palette = palettes[theme];
  const series = [palette.s1, palette.s2, palette.s3, palette.s4, palette.s5, palette.s6];

  test("stand out from the background: text by 4.5:1, lines by 3:1", () => {
    for (const text of [palette.ink, palette.muted]) {
      expect(contrast(text, palette.surface)).toBeGreaterThanOrEqual(4.5);
    }
    for (const line of series) expect(contrast(line, palette.surface)).toBeGreaterThanOrEqual(3);
  });

  test("let text on them be read", () => {
    for (const name of ["s1", "s2", "s3", "s4", "s5", "s6"] as const) {
      expect(contrast(palette[`on-${name}`], palette[name]), name).toBeGreaterThanOrEqual(4.5);
    }
  });

  test.each(Object.entries(sights))("can be told apart with %s", (_, sight) => {
    // A difference of 2.3 is just noticeable.
    for (const [i, a] of series.entries()) {
      for (const b of series.slice(i + 1)) {
        const [one, other] = [seen(a, sight), seen(b, sight)];
        const difference = Math.hypot(...one.map((value, axis) => value - other[axis]!));
        expect(difference, `${a} and ${b}`).toBeGreaterThan(20);
      }
    }
  });
});

test("both themes have the same colours, by name", () => {
  expect(Object.keys(palettes.dark)).toEqual(Object.keys(palettes.light));
});

test("twelve lines differ in colour or dash, and six in colour; neighbours in dash and symbol too", () => {
  const looks = Array.from({ length: 12 }, (_, i) => lookOf(i));
  expect(new Set(looks.map(({ stroke, dash }) => stroke + dash)).size).toBe(12);
  expect(new Set(looks.slice(0, 6).map(({ stroke }) => stroke)).size).toBe(6);
  for (const [i, look] of looks.slice(1).entries()) {
    expect(look.dash).not.toBe(looks[i]!.dash);
    expect(look.symbol).not.toBe(looks[i]!.symbol);
  }
});

test("colours take the place of their names", () => {
  expect(withColours('fill="var(--hg-on-s1)" stroke="var(--hg-none)"', "light")).toBe(
    'fill="#ffffff" stroke="var(--hg-none)"',
  );
});
