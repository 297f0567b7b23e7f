/** The page: loads the sample, finds what WebGL there is, trains for as long as it is told to. */
import { createGpujsKernels } from "@heterosgd/gpu-kernels/gpujs";
import { describeShape } from "@heterosgd/model";
import { GPU } from "gpu.js";
import { findPage } from "./page.js";
import { loadSample, type Sample } from "./sample.js";
import { createTraining, type Training } from "./training.js";
import { findWebGl, type FoundWebGl } from "./webgl.js";

const settings = { hidden: 32, batchRows: 32, learningRate: 0.01, seed: 1 } as const;
/** Updates between two evaluations. */
const EVALUATE_EVERY = 50;
/** Milliseconds of work after which the page is drawn. */
const TURN_MS = 30;

const page = findPage();

/** A training that has been begun, and how far it is. */
interface Session {
  readonly training: Training;
  readonly close: () => Promise<void>;
  updates: number;
  rows: number;
  /** Seconds of training, evaluations left out. */
  seconds: number;
  recent: number[];
}

async function begin(sample: Sample, { mode }: FoundWebGl): Promise<Session> {
  const kernels = createGpujsKernels({ GPU, mode });
  const training = createTraining(kernels, sample, settings);
  page.show("kernels", kernels.name);
  page.show("network", describeShape(training.shape));
  page.lossChart.clear();
  page.precisionChart.clear();
  for (const id of ["loss", "precision", "epochs", "updates", "speed"] as const) page.show(id, "–");
  return {
    training,
    close: async () => kernels.dispose(),
    updates: 0,
    rows: 0,
    seconds: 0,
    recent: [],
  };
}

async function update(session: Session): Promise<void> {
  const began = performance.now();
  const { loss, rows } = await session.training.update();
  session.seconds += (performance.now() - began) / 1000;
  session.updates++;
  session.rows += rows;
  session.recent = [...session.recent, loss].slice(-50);
  page.lossChart.add(session.updates, loss);
  if (!Number.isFinite(loss)) throw new Error("the loss is not finite any more");
}

async function evaluate(session: Session, pause: () => Promise<boolean>): Promise<void> {
  const precision = await session.training.evaluate(pause);
  if (precision === null) return;
  page.precisionChart.add(session.updates, precision);
  page.precisionChart.draw();
  page.show("precision", precision.toFixed(3));
}

function show({ updates, rows, seconds, recent, training }: Session): void {
  const mean = recent.reduce((sum, value) => sum + value, 0) / recent.length;
  const epoch = updates / training.updatesPerEpoch;
  page.show("loss", mean.toFixed(3));
  page.show("epochs", epoch.toFixed(1));
  page.show("updates", updates.toLocaleString("en"));
  page.show("speed", Math.round(rows / seconds).toLocaleString("en"));
  page.lossChart.draw();
}

/** Draws; resolves when there is time for more work. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve, 0));
  });
}

/** Trains until `isWanted` says no. */
async function trainWhile(isWanted: () => boolean, session: Session): Promise<void> {
  const pause = async () => {
    await nextTurn();
    return !isWanted();
  };
  while (isWanted()) {
    const until = performance.now() + TURN_MS;
    do {
      await update(session);
    } while (performance.now() < until && session.updates % EVALUATE_EVERY !== 0);
    show(session);
    await nextTurn();
    if (session.updates % EVALUATE_EVERY === 0) await evaluate(session, pause);
  }
}

function failed(error: unknown): void {
  page.fail(`Training has stopped: ${error instanceof Error ? error.message : String(error)}`);
}

async function prepare(): Promise<void> {
  const webGl = findWebGl(document.createElement("canvas"));
  page.show(
    "algorithm",
    `Adam, ${settings.batchRows} rows an update, learning rate ${settings.learningRate}`,
  );
  if (!webGl.available) {
    page.show("renderer", "none");
    page.fail(
      `This page trains on WebGL, but ${webGl.reason}. Switch hardware acceleration on in the browser's settings, or open the page in another browser.`,
    );
    return;
  }
  const kind = webGl.isSoftware ? "a software renderer: no GPU is at work" : "a GPU's driver";
  page.show("renderer", `${webGl.renderer} (${kind})`);
  const sample = await loadSample();
  page.show("state", "preparing the kernels");
  await nextTurn();
  control(await begin(sample, webGl), () => begin(sample, webGl));
}

/** Has the buttons start and stop the training, or begin it anew. */
function control(first: Session, again: () => Promise<Session>): void {
  let session = first;
  let isRunning = false;
  /** Settles when the work that is under way has ended. */
  let work: Promise<void> = Promise.resolve();

  function reflect(state: string): void {
    page.run.textContent = isRunning ? "Stop" : "Start";
    page.run.disabled = false;
    page.reset.disabled = false;
    page.show("state", state);
  }

  function toggle(): void {
    isRunning = !isRunning;
    if (!isRunning) return reflect("stopped");
    reflect("training");
    work = work.then(() => trainWhile(() => isRunning, session));
    work.catch(failed);
  }

  async function reset(): Promise<void> {
    isRunning = false;
    page.run.disabled = true;
    page.reset.disabled = true;
    await work;
    await session.close();
    session = await again();
    reflect("ready");
  }

  page.run.addEventListener("click", toggle);
  page.reset.addEventListener("click", () => void reset().catch(failed));
  addEventListener("pagehide", () => (isRunning = false));
  reflect("ready");
}

prepare().catch(failed);
