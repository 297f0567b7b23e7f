import { ReportError } from "../errors.js";

/** Pixels of a picture's pixel: sharp on screens with twice the usual density. */
const SCALE = 2;
/** More than any screen; resvg takes 4 bytes for each pixel. */
const MOST_PIXELS = 2 ** 28;

/**
 * Draws a picture of `pictureSvg` with a theme of its own (`light` or `dark`) as PNG, twice as large, by the optional package
 * `@resvg/resvg-js`.
 *
 * @throws ReportError PNG_UNAVAILABLE where that is not installed, where there is no font, and for a picture that is too large.
 */
export async function pngOf(svg: string): Promise<Uint8Array> {
  const { Resvg } = await resvg();
  const draw = (text: string) =>
    new Resvg(text, {
      fitTo: { mode: "zoom", value: SCALE },
      font: { loadSystemFonts: true },
    });
  const probe = draw(
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text x="2" y="15">Mm</text></svg>',
  );
  if (probe.innerBBox() === undefined) {
    throw new ReportError(
      "PNG_UNAVAILABLE",
      "PNG images need a font, and none is installed; install one (apt-get install fonts-dejavu-core), or write an .svg or .html file",
    );
  }
  // For a system's own font resvg takes one with serifs; by name it finds what is installed.
  const picture = draw(svg.replaceAll("system-ui, ", ""));
  if (picture.width * picture.height * SCALE ** 2 > MOST_PIXELS) {
    throw new ReportError(
      "PNG_UNAVAILABLE",
      `a PNG image of ${SCALE * picture.width} × ${SCALE * picture.height} pixels is too large; choose fewer charts, or write an .svg or .html file`,
    );
  }
  return picture.render().asPng();
}

async function resvg(): Promise<typeof import("@resvg/resvg-js")> {
  try {
    return await import("@resvg/resvg-js");
  } catch (cause) {
    const { message } = cause as Error;
    throw new ReportError(
      "PNG_UNAVAILABLE",
      `PNG images need the optional package @resvg/resvg-js, which cannot be loaded (${message.split("\n")[0]}); npm install @resvg/resvg-js@2.6.2 installs it, or write an .svg or .html file`,
      { cause },
    );
  }
}
