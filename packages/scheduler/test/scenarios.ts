/** Random runs: data, devices, when which are lost or join, and a finish. */
import fc from "fast-check";
import type {
  CheckpointEvery,
  DeviceInfo,
  EvaluateEvery,
  Policy,
  RunOptions,
} from "../src/index.js";
import { runFake } from "./fake-executor.js";
import type { FakeDevice, FakeRun, Incident, Resumption } from "./fake-run.js";
import { checked } from "./support.js";

export interface Scenario {
  readonly rows: number;
  readonly devices: readonly FakeDevice[];
  readonly run: RunOptions;
  readonly incidents: readonly Incident[];
}

const device = fc.record({
  speed: fc.constantFrom(0.25, 0.5, 0.8, 1, 1.7, 3),
  maxBatchRows: fc.integer({ min: 1, max: 20 }),
  threads: fc.integer({ min: 1, max: 3 }),
  role: fc.constantFrom("host", "accelerator"),
});
const at = fc.nat(480).map((eighths) => eighths / 8);

const runOptions = fc.record(
  {
    epochs: fc.integer({ min: 1, max: 3 }),
    schedule: fc.constantFrom(
      { kind: "constant", rate: 0.1 } as const,
      { kind: "step", rate: 0.1, everyEpochs: 1, factor: 0.5 } as const,
      { kind: "cosine", rate: 0.1, epochs: 2 } as const,
    ),
    warmupEpochs: fc.constantFrom(0, 0.3, 1),
    evaluateEvery: fc.constantFrom<EvaluateEvery>("merge", "epoch", "never", 2),
    checkpointEvery: fc.constantFrom<CheckpointEvery>("merge", "epoch", "never", 3),
    maxSteps: fc.integer({ min: 1, max: 60 }),
  },
  { requiredKeys: ["epochs", "schedule"] },
);

/** Devices 0 … n − 1 from the start, n … later; some of both are lost. */
export function scenarios(incidentsToo = true): fc.Arbitrary<Scenario> {
  return fc
    .record({
      rows: fc.integer({ min: 1, max: 90 }),
      run: runOptions,
      devices: fc.array(device, { minLength: 1, maxLength: 4 }),
      joining: fc.array(fc.tuple(at, device), { maxLength: incidentsToo ? 2 : 0 }),
      losses: fc.array(fc.tuple(at, fc.nat(5)), { maxLength: incidentsToo ? 4 : 0 }),
      saves: fc.array(at, { maxLength: incidentsToo ? 3 : 0 }),
      finish: incidentsToo ? fc.option(at, { freq: 3 }) : fc.constant(null),
    })
    .map((drawn) => {
      const devices = drawn.devices.map((info, id) => ({ id, ...info }));
      const joining = drawn.joining.map(([when, { speed, ...info }], i): Incident => {
        const joined: DeviceInfo = { id: devices.length + i, ...info };
        return { at: when, speed, event: { type: "joined", device: joined } };
      });
      const ids = devices.length + joining.length;
      const losses = new Map(drawn.losses.map(([when, pick]) => [pick % ids, when]));
      const incidents: Incident[] = [...joining];
      for (const [id, when] of losses) {
        const entered = joining[id - devices.length]?.at ?? 0;
        incidents.push({ at: entered + when, event: { type: "lost", device: id, reason: "test" } });
      }
      for (const when of drawn.saves) incidents.push({ at: when, event: { type: "save" } });
      if (drawn.finish !== null) {
        incidents.push({ at: drawn.finish, event: { type: "finish", reason: "time" } });
      }
      return { rows: drawn.rows, devices, run: drawn.run, incidents };
    });
}

export function runScenario<State>(
  policy: Policy<State>,
  { rows, devices, incidents }: Scenario,
  resumption?: Resumption<State>,
): FakeRun<State> {
  return runFake(checked(policy), { devices, rows, parameters: 9 }, incidents, resumption);
}

/** For algorithms that have no use for accelerators. */
export function withHosts(scenario: Scenario): Scenario {
  return {
    ...scenario,
    devices: scenario.devices.map((info) => ({ ...info, role: "host" })),
    incidents: scenario.incidents.map((incident) =>
      incident.event.type === "joined"
        ? {
            ...incident,
            event: { type: "joined", device: { ...incident.event.device, role: "host" } },
          }
        : incident,
    ),
  };
}
