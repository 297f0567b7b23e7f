/** What each algorithm that sizes batches or holds devices back promises, whatever happens. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adaptiveHogbatch, lbBsp, ssp } from "../src/index.js";
import type { DeviceId, DeviceInfo } from "../src/index.js";
import { runScenario, scenarios } from "./scenarios.js";
import type { Scenario } from "./scenarios.js";
import { roundReports } from "./support.js";

/** All devices of the scenario, by id, those that join later too. */
function devicesOf({ devices, incidents }: Scenario): ReadonlyMap<DeviceId, DeviceInfo> {
  const joining = incidents.flatMap(({ event }) => (event.type === "joined" ? [event.device] : []));
  return new Map([...devices, ...joining].map((device) => [device.id, device]));
}

const size = fc.integer({ min: 1, max: 12 });
const check = (property: fc.IProperty<unknown>) =>
  fc.assert(property, { seed: 2026, numRuns: 150 });

describe("whatever the speeds, losses and joins,", () => {
  it("Adaptive Hogbatch keeps sizes between lo and hi, memory and a sixteenth of the rows", () => {
    let moved = 0;
    check(
      fc.property(scenarios(), size, (scenario, hostMin) => {
        const own = { hostMin, hostMax: 2 * hostMin, acceleratorMin: 2, acceleratorMax: 16 };
        const policy = adaptiveHogbatch({ ...scenario.run, ...own, messageRows: 24 });
        const { reports } = runScenario(policy, scenario);
        const infos = devicesOf(scenario);
        for (const { device, batchRows, nextBatchRows } of roundReports(reports).flatMap(
          (round) => round.devices,
        )) {
          const { threads = 1, role, maxBatchRows } = infos.get(device)!;
          const memory = Math.min(maxBatchRows, policy.maxBatchRows);
          const [low, high, most] =
            role === "accelerator"
              ? [2, 16, Math.min(memory, Math.max(1, Math.floor(scenario.rows / 16)))]
              : [own.hostMin * threads, own.hostMax * threads, memory];
          for (const rows of [batchRows, nextBatchRows]) {
            expect(rows).toBeGreaterThanOrEqual(Math.min(low, most));
            expect(rows).toBeLessThanOrEqual(Math.min(high, most));
          }
          if (nextBatchRows !== Math.min(role === "accelerator" ? high : low, most)) moved++;
        }
      }),
    );
    expect(moved).toBeGreaterThan(30);
  });

  it("LB-BSP keeps the sum of sizes at n·b where memory allows it, and each at 1 or more", () => {
    let uneven = 0;
    check(
      fc.property(scenarios(), size, (scenario, batch) => {
        const policy = lbBsp({ ...scenario.run, batch, batchMax: 2 * batch });
        const { reports } = runScenario(policy, scenario);
        const infos = devicesOf(scenario);
        for (const { devices } of roundReports(reports)) {
          const most = devices.map(({ device }) =>
            Math.min(2 * batch, infos.get(device)!.maxBatchRows),
          );
          const sizes = devices.map(({ nextBatchRows }) => nextBatchRows);
          for (const [i, rows] of sizes.entries()) {
            expect(rows).toBeGreaterThanOrEqual(1);
            expect(rows).toBeLessThanOrEqual(most[i]!);
          }
          const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
          expect(sum(sizes)).toBe(Math.min(batch * devices.length, sum(most)));
          if (new Set(sizes).size > 1) uneven++;
        }
      }),
    );
    expect(uneven).toBeGreaterThan(100);
  });

  it("SSP gives nobody work who is more than s steps ahead of the slowest", () => {
    let furthest = 0;
    check(
      fc.property(scenarios(), size, fc.nat(3), (scenario, batch, staleness) => {
        const policy = ssp({ ...scenario.run, batch, staleness });
        const { events, commands } = runScenario(policy, scenario);
        const steps = new Map(scenario.devices.map(({ id }) => [id, 0]));
        const slowest = () => Math.min(...steps.values());
        for (const [i, issued] of commands.entries()) {
          const event = events[i - 1];
          if (event?.type === "applied" && steps.has(event.device)) {
            steps.set(event.device, steps.get(event.device)! + 1);
          }
          if (event?.type === "lost") steps.delete(event.device);
          if (event?.type === "joined") {
            steps.set(event.device.id, steps.size === 0 ? 0 : slowest());
          }
          for (const command of issued) {
            if (command.type !== "accumulate") continue;
            const ahead = steps.get(command.device)! - slowest();
            expect(ahead).toBeLessThanOrEqual(staleness);
            furthest = Math.max(furthest, ahead);
          }
        }
      }),
    );
    expect(furthest).toBe(3);
  });
});
