export { drawFigure, type DrawOptions } from "./draw/draw-figure.js";
export { pictureSvg, type PictureOptions } from "./draw/picture.js";
export { escaped, serialise } from "./draw/serialise.js";
export {
  declarations,
  palettes,
  withColours,
  type Palette,
  type ThemeName,
} from "./draw/themes.js";
export { ReportError, reportErrorCodes, type ReportErrorCode } from "./errors.js";
export { comparisonFigures, type ComparisonOptions } from "./figures/comparison-figures.js";
export {
  figureIds,
  type Axis,
  type BarsChart,
  type Chart,
  type ChartLine,
  type ChartMark,
  type Figure,
  type FigureId,
  type LinesChart,
  type PartLook,
  type Point,
  type StripChart,
  type Table,
} from "./figures/figure.js";
export { runFigures } from "./figures/run-figures.js";
export type { Target } from "./figures/target-table.js";
export { figureHtml, type FigureHtmlOptions } from "./page/figure-html.js";
export { pageHtml, type ReportPage, type ReportSection } from "./page/page.js";
export { runFacts, runSection } from "./page/run-section.js";
export { pageStyles } from "./page/styles.js";
export { collectRun, type RunCollector } from "./series/collect-run.js";
export {
  contestantsOf,
  type Contestant,
  type ContestantRun,
  type CurvePoint,
  type DeviceTotals,
} from "./series/contestants.js";
export type {
  DeviceSeries,
  Evaluation,
  Mark,
  RunSeries,
  SimulatedBy,
  Usage,
} from "./series/run-series.js";
export type { Sample } from "./series/thinned.js";
