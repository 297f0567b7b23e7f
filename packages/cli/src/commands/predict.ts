import { once } from "node:events";
import { loadModel } from "@heterosgd/model/node";
import { fileBytes } from "@heterosgd/sparse/node";
import { predict, type Prediction } from "@heterosgd/trainer";
import { environmentLayer, flagLayer, resolveOptions } from "../config/resolve.js";
import { predictSchema } from "../config/schema.js";
import { rowsFile, textOptions } from "../data.js";
import { exitCodes, type ExitCode } from "../errors.js";
import { notesOf, withNotes } from "../model-notes.js";
import type { Output } from "../output/output.js";
import { rowBlocks } from "../row-stream.js";

const BLOCK_ROWS = 512;

/** `heterosgd predict MODEL [FILE|-]` */
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
  const { shape, parameters, labelNames, info } = await loadModel(modelFile);
  const { features, labels } = shape;
  const k = Math.min(config.topK, labels);

  if (fromStandardInput && process.stdin.isTTY) output.say("reading rows from the terminal");
  const blocks = rowBlocks(fromStandardInput ? process.stdin : fileBytes(path), {
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
  let row = 0;
  for await (const { dataset, lines } of blocks) {
    const predictions = predict({
      shape,
      parameters,
      dataset,
      k,
      threshold: config.threshold,
    });
    const texts: string[] = [];
    for await (const labelsOfRow of predictions) {
      texts.push(rowText(row, lines[texts.length]!, labelsOfRow, labelNames));
      row++;
    }
    if (!process.stdout.write(texts.join(""))) await once(process.stdout, "drain");
  }
  output.detail(`${row} rows`);
  return exitCodes.done;
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
