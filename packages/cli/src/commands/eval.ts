import { loadModel } from "@heterosgd/model/node";
import { chooseKernels, evaluateModel } from "@heterosgd/trainer";
import { autoDevices } from "../auto-devices.js";
import { environmentLayer, flagLayer, resolveOptions } from "../config/resolve.js";
import { evalSchema } from "../config/schema.js";
import { cutoffNotices, noticesOf, readEvaluationData, rowsFile } from "../data.js";
import { exitCodes, type ExitCode } from "../errors.js";
import { modelPath } from "../model-path.js";
import { gpujsFor } from "../gpujs.js";
import { withNotes } from "../model-notes.js";
import { counted, formatCount, formatSeconds } from "../output/format.js";
import { kernelsWords } from "../output/kernels.js";
import type { Output } from "../output/output.js";
import { evaluatedWords, metricLines, metricsDocument } from "../output/report.js";
import { devicesFor } from "../plan.js";

/** `heterosgd eval MODEL|RUN [FILE]` */
export async function evalCommand(
  modelOrRun: string,
  file: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  output: Output,
): Promise<ExitCode> {
  const layers = [flagLayer(evalSchema, flags), environmentLayer(evalSchema, process.env)];
  const config = resolveOptions(evalSchema, layers);
  const auto =
    config.devices === "auto" ? await autoDevices({ ...config, algorithm: null }, output) : null;
  const devices = devicesFor(auto ?? config.devices);
  const gpujs = await gpujsFor(auto ?? config.devices);
  const kernels = chooseKernels(devices, { ...config, gpujs });
  const path = rowsFile(file, config.sample);
  const modelFile = await modelPath(modelOrRun, (text) => output.say(`note: ${text}`));
  const model = await loadModel(modelFile);
  const { shape, parameters, labelNames = null } = model;

  output.say(`reading ${path}`);
  const { features, labels } = shape;
  const bounds = { features, labels, labelNames, onWider: config.wider };
  const read = await readEvaluationData(path, withNotes(config, model.info), bounds);
  for (const notice of [...noticesOf(path, read), ...cutoffNotices(config.cutoffs, labels)]) {
    output.say(`note: ${notice}`);
  }

  const { dataset } = read;
  const began = performance.now();
  const metrics = await evaluateModel({
    shape,
    parameters,
    dataset,
    devices,
    kernels: config.kernels,
    require: config.require,
    gpujs,
    cutoffs: config.cutoffs.toSorted((a, b) => a - b),
  });
  const seconds = (performance.now() - began) / 1000;
  for (const line of metricLines(metrics)) output.print(line, "bold");
  output.print(evaluatedWords("test", metrics));
  output.say(
    `${formatSeconds(seconds)} on ${counted(devices.length, "device")}, ${formatCount(dataset.rows / seconds)} rows/s; kernels: ${kernelsWords(kernels)}`,
  );
  output.document({
    model: modelFile,
    file: path,
    metrics: metricsDocument(metrics),
    seconds,
    kernels,
  });
  return exitCodes.done;
}
