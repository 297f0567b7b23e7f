import type {
  BlendCommand,
  Command,
  Policy,
  PolicyEvent,
  StopReason,
  Transition,
} from "../contract.js";
import {
  answering,
  checkedDevice,
  checkedSetup,
  infosOf,
  unexpected,
  withDevice,
} from "../common/devices.js";
import type { CheckedDevice } from "../common/devices.js";
import { sum } from "../common/numbers.js";
import {
  conclude,
  epochReports,
  evaluate,
  exhausted,
  isDue,
  newRun,
  requestSave,
  save,
  stop,
} from "../common/run.js";
import { learningRateOf } from "../learning-rate.js";
import { countRows, epochsTaken } from "../row-queue.js";
import { andThen } from "../transition.js";
import type { RoundAlgorithm, RoundDevice, RoundState } from "./algorithm.js";
import { checkRoundState, idle } from "./check-state.js";
import { allIn, deal, giveBackAll, handOut, withdraw } from "./hand-out.js";
import { resumedState, savedModels } from "./resume.js";

type Step = Transition<RoundState>;

/**
 * Rounds of batches dealt in advance, each ended by a merge:
 *
 * ```text
 * round:    deal batches; replicas that don't live on pull; hand out; then everybody pushes
 * all in:   the merge's blends, stage by stage; w̄ <- next; maybe evaluate; maybe save; next round
 * ```
 *
 * A device lost before the blends are asked for takes all rows it got since the last merge back to
 * the front of the queue, for the next round. Once they are asked for, what it has pushed counts
 * like any other. A device that joins takes part from the next round on. A `finish` takes back what
 * was dealt and not given, and merges the rest. If it comes while the model is evaluated, the run
 * ends with that very model.
 *
 * A checkpoint is taken between two rounds, where all work is in the models that it names.
 */
export function roundPolicy(algorithm: RoundAlgorithm): Policy<RoundState> {
  return {
    name: algorithm.name,
    maxBatchRows: algorithm.maxBatchRows,
    models: (devices) => algorithm.models(devices),
    start: (setup) =>
      beginRound(algorithm, {
        ...newRun(algorithm.settings, setup.rows),
        devices: [],
        joined: checkedSetup(setup),
        learningRate: 0,
        fullRows: 0,
        restarted: false,
        stages: [],
        blending: [],
        blends: 0,
        report: null,
        drained: true,
      }),
    next: (state, event) => (state.phase === "stopped" ? [state, []] : on(algorithm, state, event)),
    resume: (state, devices) => beginRound(algorithm, resumedState(algorithm, state, devices)),
    devices: ({ devices, joined }) => infosOf([...devices, ...joined]),
    checkState: checkRoundState,
  };
}

function on(algorithm: RoundAlgorithm, state: RoundState, event: PolicyEvent): Step {
  switch (event.type) {
    case "done": {
      const owes = (it: RoundDevice) => it.outstanding > 0;
      const device = answering(state.devices, event.device, owes, "done");
      if (device === undefined) return [state, []];
      const change = {
        outstanding: device.outstanding - 1,
        seconds: device.seconds + event.seconds,
      };
      return carryOn(algorithm, withChanged(state, device, change));
    }
    case "pushed": {
      const device = answering(state.devices, event.device, (it) => it.pushes > 0, "pushed");
      if (device === undefined) return [state, []];
      return carryOn(algorithm, withChanged(state, device, { pushes: device.pushes - 1 }));
    }
    case "blended": {
      if (!state.blending.includes(event.id)) throw unexpected("blended");
      const blending = state.blending.filter((id) => id !== event.id);
      return blending.length > 0 ? [{ ...state, blending }, []] : blendStage(algorithm, state);
    }
    case "evaluated":
      if (state.phase !== "evaluating" || event.id !== state.evaluated)
        throw unexpected("evaluated");
      return state.finish === null
        ? beginRound(algorithm, { ...state, phase: "working" })
        : end(algorithm, state, state.finish);
    case "checkpointed":
      if (state.phase !== "saving") throw unexpected(event.type);
      return beginRound(algorithm, { ...state, phase: "working" });
    case "save":
      return [requestSave(state), []];
    case "lost":
      return onLost(algorithm, state, event.device);
    case "joined": {
      const device = checkedDevice(event.device, [...state.devices, ...state.joined]);
      return [{ ...state, joined: [...state.joined, device] }, []];
    }
    case "finish":
      return carryOn(algorithm, withdraw({ ...state, finish: state.finish ?? event.reason }));
    case "applied":
      throw unexpected(event.type);
  }
}

/** A round, unless the run is over; a checkpoint before it if one is due. */
function beginRound(algorithm: RoundAlgorithm, state: RoundState): Step {
  const { settings, keepsReplicas } = algorithm;
  const reason = state.finish ?? exhausted(state.queue, state.steps, settings.maxSteps);
  const behind = !state.drained && state.devices.length > 0;
  if (reason !== null && behind) return startMerge(algorithm, state);
  if (reason !== null) return conclude(state, reason, savedModels(algorithm, state));
  if (state.saveDue) return save(state, savedModels(algorithm, state));
  const entering = state.joined.map((device) => freshDevice(algorithm, device));
  const devices = [...state.devices, ...entering];
  if (devices.length === 0) return end(algorithm, state, "devices");
  const fullRows = sum(devices, ({ batchRows }) => batchRows);
  const dealt = deal(algorithm, { ...state, phase: "working", devices, joined: [], fullRows });
  const firstTurn = dealt.devices.flatMap(({ share }) => share[0] ?? []);
  const learningRate = learningRateOf(settings, state.queue.rows, firstTurn);
  const again = algorithm.restarts?.(learningRate, state.learningRate) === true;
  const pulling = dealt.devices.map((device) => ({
    ...device,
    pulled: !keepsReplicas || again || device.fresh,
    fresh: false,
  }));
  const round: RoundState = {
    ...dealt,
    devices: pulling,
    learningRate,
    restarted: state.rounds === 0 || again,
  };
  const pulls = pulling
    .filter(({ pulled }) => pulled)
    .map(({ id }): Command => ({ type: "pull", device: id }));
  return andThen([round, pulls], (next) => carryOn(algorithm, next));
}

/** Goes on with the round: hands out what there is to hand out, and merges when all is in. */
function carryOn(algorithm: RoundAlgorithm, state: RoundState): Step {
  if (state.phase !== "working") return [state, []];
  return andThen(handOut(algorithm, state), (next) => {
    if (!allIn(next)) return [next, []];
    const trained = next.devices.some((device) => device.updates > 0);
    return trained ? startMerge(algorithm, next) : beginRound(algorithm, nextRound(next));
  });
}

/** Works out the merge and the next sizes, and asks for the first stage of blends. */
function startMerge(algorithm: RoundAlgorithm, state: RoundState): Step {
  const { devices, learningRate, fullRows, restarted } = state;
  const { stages, weights } = algorithm.merge({ devices, learningRate, fullRows, restarted });
  const paced = devices.map((device) => ({
    ...device,
    pace: algorithm.pace?.(device) ?? device.pace,
  }));
  const sizes = algorithm.resize?.(paced) ?? devices.map(({ batchRows }) => batchRows);
  const updates = sum(devices, (device) => device.updates);
  const report = {
    type: "round" as const,
    round: state.rounds + 1,
    epoch: epochsTaken(state.queue),
    rows: sum(devices, ({ rows }) => countRows(rows)),
    devices: devices.map((device, i) => ({
      device: device.id,
      updates: device.updates,
      share: updates === 0 ? 0 : device.updates / updates,
      rows: countRows(device.rows),
      batchRows: device.batchRows,
      nextBatchRows: sizes[i] ?? device.batchRows,
      learningRate: device.learningRate,
      weight: weights[i] ?? null,
      staleness: 0,
      seconds: device.seconds,
    })),
  };
  const resized = paced.map((device, i) => ({ ...device, batchRows: sizes[i] ?? 1 }));
  const drained = algorithm.lags !== true || updates === 0;
  return blendStage(algorithm, {
    ...state,
    phase: "merging",
    devices: resized,
    stages,
    report,
    drained,
  });
}

/** Asks for the next stage of blends; after the last one the round is done. */
function blendStage(algorithm: RoundAlgorithm, state: RoundState): Step {
  const [stage, ...stages] = state.stages;
  if (stage === undefined) return completeRound(algorithm, { ...state, blending: [] });
  const commands = stage.map((blend, i): BlendCommand => ({
    type: "blend",
    id: state.blends + 1 + i,
    ...blend,
  }));
  const blending = commands.map(({ id }) => id);
  return [{ ...state, stages, blending, blends: state.blends + stage.length }, commands];
}

/** `w̄ ← next` and the reports; then an evaluation or the next round. */
function completeRound(algorithm: RoundAlgorithm, state: RoundState): Step {
  const { rotation, settings } = algorithm;
  const { report } = state;
  if (report === null) throw unexpected("blended");
  const epochsDone = epochsTaken(state.queue);
  const epochEnded = epochsDone > state.epochsDone;
  const rounds = report.round;
  const next: RoundState = {
    ...nextRound(state),
    rounds,
    steps: state.steps + sum(report.devices, ({ updates }) => updates),
    epochsDone,
    saveDue: state.saveDue || isDue(settings.checkpointEvery, rounds, epochEnded),
  };
  const commands: readonly Command[] = [
    { type: "rotate", names: rotation },
    { type: "report", report },
    ...epochReports(state.epochsDone, epochsDone),
  ];
  const due = isDue(settings.evaluateEvery, rounds, epochEnded);
  return andThen([next, commands], (done) => (due ? evaluate(done) : beginRound(algorithm, done)));
}

function onLost(algorithm: RoundAlgorithm, state: RoundState, id: number): Step {
  const joined = state.joined.filter((device) => device.id !== id);
  const others = state.devices.filter((device) => device.id !== id);
  const nobody = joined.length === 0 && others.every((device) => device.lost);
  if (state.phase === "merging") {
    const devices = withDevice(state.devices, id, { lost: true });
    const next = { ...state, joined, devices };
    return nobody ? end(algorithm, giveBackAll(next, devices), "devices") : [next, []];
  }
  const lost = state.devices.filter((device) => device.id === id);
  const next = { ...giveBackAll(state, lost), joined, devices: others };
  return nobody ? end(algorithm, next, "devices") : carryOn(algorithm, next);
}

/** Between two rounds: the devices that are left, and nothing asked of anybody. */
function nextRound(state: RoundState): RoundState {
  const left = state.devices.filter((device) => !device.lost);
  return {
    ...state,
    ...idle.state,
    devices: left.map((device) => ({ ...device, ...idle.device })),
  };
}

function end(algorithm: RoundAlgorithm, state: RoundState, reason: StopReason): Step {
  const last = nextRound(state);
  return stop(last, reason, savedModels(algorithm, last));
}

function freshDevice({ batchRows }: RoundAlgorithm, device: CheckedDevice): RoundDevice {
  return {
    ...device,
    ...idle.device,
    batchRows: Math.min(batchRows, device.maxBatchRows),
    pace: null,
    fresh: true,
    learningRate: 0,
  };
}

function withChanged(
  state: RoundState,
  { id }: RoundDevice,
  change: Partial<RoundDevice>,
): RoundState {
  return { ...state, devices: withDevice(state.devices, id, change) };
}
