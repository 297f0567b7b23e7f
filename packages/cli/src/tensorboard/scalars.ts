/** Follows a run by its events: what TensorBoard shows of it, at which steps. */
import type { RunEvent } from "@heterosgd/trainer";
import { metricsDocument } from "../output/report.js";
import type { Point } from "./event-message.js";

/** Points until which there is one for each merge or round, */
const EACH = 1000;
/** and from then on one whenever the step has grown by a part of this size. */
const GROWTH = 1 / EACH;

/** Where a run, or a part of one, begins. */
export interface Beginning {
  readonly wallTime: number;
  /** The first step that is not behind it yet. */
  readonly step: number;
}

export interface ScalarsTarget {
  begin(beginning: Beginning): void;
  point(point: Point): void;
}

/** What a device did since the last point. */
interface DeviceWindow {
  readonly name: string;
  rows: number;
  updates: number;
  /** Merges or rounds that it took part in. */
  reports: number;
  /** Σ of the staleness of the updates of which it is known, and how many they are. */
  stale: number;
  dated: number;
  /** As of its last merge or round. */
  batchRows: number;
  learningRate: number;
  weight: number | null;
}

/**
 * Turns a run's events into points, one for each merge or round, and one for each evaluation. A step is
 * an update of any device. Long runs have fewer: at most a thousand points for each time that the
 * number of steps grows by a factor of e.
 *
 * @param now - seconds since 1970. Only asked when the run begins: from then on its own clock counts, which
 * is the simulator's in a simulated run.
 */
export function createScalars(target: ScalarsTarget, now: () => number): (event: RunEvent) => void {
  let origin = 0;
  let rowsOfEpoch = 1;
  let step = 0;
  let rows = 0;
  let points = 0;
  let devices: DeviceWindow[] = [];
  let written = { at: 0, step: 0, rows: 0 };
  let loss = 0;

  function windowOf(id: number, name = `device ${id}`): DeviceWindow {
    return (devices[id] ??= { name, ...emptyWindow });
  }

  function pointOfWindow(at: number): void {
    const seconds = at - written.at;
    const count = rows - written.rows;
    if (count === 0) return;
    const perSecond = (of: number) => (seconds > 0 ? [of / seconds] : []);
    const one = (tag: string, values: readonly (number | null)[]) =>
      values.flatMap((value) => (value === null ? [] : [[tag, value] as const]));
    const scalars = [
      ...one("loss/train", [loss / count]),
      ...one("progress/epochs", [rows / rowsOfEpoch]),
      ...one("rows_per_second/all", perSecond(count)),
      ...devices.flatMap((device) => {
        const { name, reports, dated } = device;
        if (reports === 0) return [];
        return [
          ...one(`rows_per_second/${name}`, perSecond(device.rows)),
          ...one(`batch_rows/${name}`, [device.batchRows]),
          ...one(`updates/${name}`, [device.updates / reports]),
          ...one(`learning_rate/${name}`, [device.learningRate]),
          ...one(`merge_weight/${name}`, [device.weight]),
          ...one(`staleness/${name}`, dated > 0 ? [device.stale / dated] : []),
        ];
      }),
    ];
    target.point({ wallTime: origin + at, step, scalars });
    points++;
    written = { at, step, rows };
    loss = 0;
    for (const device of devices) Object.assign(device, emptyWindow);
  }

  return (event) => {
    switch (event.type) {
      case "start":
      case "resume":
        origin = now() - event.at;
        rowsOfEpoch = Math.max(1, event.trainRows);
        step = event.type === "resume" ? event.step : 0;
        rows = event.type === "resume" ? event.rows : 0;
        written = { at: event.at, step, rows };
        loss = 0;
        points = 0;
        devices = event.devices.map(({ name }) => ({ name, ...emptyWindow }));
        target.begin({ wallTime: origin + event.at, step: event.type === "resume" ? step + 1 : 0 });
        break;
      case "joined":
        windowOf(event.device.id, event.name);
        break;
      case "done": {
        const count = event.rows.reduce((sum, range) => sum + range.count, 0);
        rows += count;
        loss += event.loss;
        windowOf(event.device).rows += count;
        break;
      }
      case "merge":
      case "round":
        for (const report of event.devices) {
          const device = windowOf(report.device);
          const { updates, batchRows, learningRate, weight } = report;
          Object.assign(device, { batchRows, learningRate, weight });
          device.updates += updates;
          device.reports++;
          step += updates;
          const staleness = "staleness" in report ? report.staleness : null;
          if (staleness === null || updates === 0) continue;
          device.stale += staleness * updates;
          device.dated += updates;
        }
        if (points < EACH || step >= written.step * (1 + GROWTH)) pointOfWindow(event.at);
        break;
      case "evaluation": {
        const { rows: _, rowsWithoutLabels: __, ...metrics } = metricsDocument(event.metrics);
        const scalars = Object.entries(metrics).map(([name, value]) => {
          return [`evaluation/${name}`, value] as const;
        });
        target.point({ wallTime: origin + event.at, step, scalars });
        break;
      }
      case "end":
        pointOfWindow(event.at);
        break;
      default:
    }
  };
}

const emptyWindow = {
  rows: 0,
  updates: 0,
  reports: 0,
  stale: 0,
  dated: 0,
  batchRows: 0,
  learningRate: 0,
  weight: null,
};
