import { once } from "node:events";
import { loadModel } from "@heterosgd/model/node";
import { fileBytes, unpackedBytes } from "@heterosgd/sparse/node";
import { createPredictor, TrainerError, type Prediction } from "@heterosgd/trainer";
import { environmentLayer, flagLayer, resolveOptions } from "../config/resolve.js";
import { predictSchema } from "../config/schema.js";
import { droppedWords, rowsFile, textOptions } from "../data.js";
import { exitCodes, type ExitCode } from "../errors.js";
import { modelPath } from "../model-path.js";
import { notesOf, withNotes } from "../model-notes.js";
import { counted } from "../output/format.js";
import type { Output } from "../output/output.js";
import { rowBlocks } from "../row-stream.js";

const BLOCK_ROWS = 512;

/** `heterosgd predict MODEL|RUN [FILE|-]` */
export async function predictCommand(
  modelFile: string,
  file: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  output: Output,
): Promise<ExitCode> {
  const layers = [flagLayer(predictSchema, flags), environmentLayer(predictSchema, process.env)];
  const config = resolveOptions(predictSchema, layers);
  const fromStandardInput = !config.sample && (file === undefined || file === "-");
  const path = fromStandardInput ? "standard input" : rowsFile(file, config.sample);
  const { shape, parameters, labelNames, info } = await loadModel(
    await modelPath(modelFile, (text) => output.say(`note: ${text}`)),
  );
  const { features, labels } = shape;
  const k = Math.min(config.topK, labels);

  if (fromStandardInput && process.stdin.isTTY) output.say("reading rows from the terminal");
  endBetweenLines();
  const bytes = fromStandardInput ? unpackedBytes(process.stdin, path) : fileBytes(path);
  const blocks = rowBlocks(bytes, {
    source: path,
    format: config.format,
    usual: notesOf(info).format,
    text: textOptions(withNotes(config, info), {
      features,
      labels,
      labelNames: null,
      onWider: config.wider,
    }),
    maxRows: BLOCK_ROWS,
  });
  const predictor = createPredictor({
    shape,
    parameters,
    k,
    threshold: config.threshold,
    kernels: config.kernels,
  });
  output.detail(`kernels: ${predictor.kernels}`);
  let row = 0;
  let dropped = 0;
  for await (const { dataset, lines, droppedFeatures } of blocks) {
    dropped += droppedFeatures;
    const texts: string[] = [];
    try {
      for await (const labelsOfRow of predictor.predict(dataset)) {
        texts.push(rowText(row, lines[texts.length]!, labelsOfRow, labelNames));
        row++;
      }
    } catch (error) {
      throw atLine(error, path, lines[texts.length]);
    } finally {
      if (!process.stdout.write(texts.join(""))) await once(process.stdout, "drain");
    }
  }
  await predictor.close();
  if (dropped > 0) output.say(`note: ${path}: ${droppedWords(dropped)}`);
  output.detail(counted(row, "row"));
  return exitCodes.done;
}

/** A signal ends the process once what is written has gone out, so that no line is cut. */
function endBetweenLines(): void {
  const codes = {
    SIGHUP: exitCodes.hungUp,
    SIGINT: exitCodes.interrupted,
    SIGTERM: exitCodes.terminated,
  } as const;
  for (const [name, code] of Object.entries(codes)) {
    process.once(name, () => process.stdout.write("", () => process.exit(code)));
  }
}

/** Scores that are not finite, at their row's line in the text. */
function atLine(error: unknown, source: string, line: number | undefined): unknown {
  if (!(error instanceof TrainerError) || error.code !== "NOT_FINITE") return error;
  const message =
    "the scores of this row are not finite; the model's weights or the row's values are too large";
  return new TrainerError(error.code, `${source}:${line}: ${message}`, { cause: error });
}

function rowText(
  row: number,
  line: number,
  predictions: readonly Prediction[],
  labelNames: readonly string[] | undefined,
): string {
  const labels = predictions.map(({ label, score }) => ({
    label: labelNames?.[label] ?? String(label),
    id: label,
    score: Number(score.toPrecision(6)),
  }));
  return `${JSON.stringify({ row, line, labels })}\n`;
}
