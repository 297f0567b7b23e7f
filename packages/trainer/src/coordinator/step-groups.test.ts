import { expect, test } from "vitest";
import type { StepCall, StepReply } from "../device/api.js";
import type { RemoteDevice } from "../device/supervisor.js";
import type { Request } from "./device-calls.js";
import { repliesOf } from "./replies.js";
import { createStepGroups } from "./step-groups.js";

/** Devices that answer when the test says so; `sent` holds the steps of each message, by number. */
function setUp() {
  const log: string[] = [];
  const sent: number[][] = [];
  const rows: number[] = [];
  const requests: Request<readonly StepReply[]>[] = [];
  const reply = ({ model }: StepCall): StepReply => ({
    nonZeros: 0,
    seconds: model,
    loss: 0,
    usage: { training: 0, merging: 0, evaluating: 0, waiting: 0 },
  });
  const device = {
    step: async (call: StepCall) => (sent.push([call.model]), reply(call)),
    steps: async (calls: readonly StepCall[]) => (
      sent.push(calls.map(({ model }) => model)),
      calls.map(reply)
    ),
  } as unknown as RemoteDevice;
  const groups = createStepGroups(
    {
      send(_, request) {
        rows.push(request.rows ?? 0);
        requests.push(request as unknown as Request<readonly StepReply[]>);
        void request.work(device);
      },
    },
    [0, 1].map((id) => repliesOf(`device ${id}`)),
  );
  const add = (number: number, id = 0) =>
    groups.add(id, {
      rows: 10 + number,
      call: { rows: [], microBatchRows: null, learningRate: 1, model: number },
      answer: ({ seconds }) => log.push(`${number}: ${seconds}`),
      lost: () => log.push(`${number} is lost`),
    });
  const answer = async () => {
    const request = requests.shift()!;
    request.answer!(await request.work(device));
    sent.pop();
  };
  return { log, sent, rows, requests, groups, add, answer };
}

test("steps go in pairs while a device has as many others, and singly otherwise", async () => {
  const { log, sent, rows, groups, add, answer } = setUp();
  for (const number of [0, 1, 2, 3]) add(number);
  expect(sent).toEqual([]);
  groups.flush();
  expect(sent).toEqual([
    [0, 1],
    [2, 3],
  ]);
  expect(rows).toEqual([21, 25]);
  await answer();
  expect(log).toEqual(["0: 0", "1: 1"]);
  add(4);
  add(5);
  groups.flush();
  groups.flush();
  expect(sent.slice(2)).toEqual([[4, 5]]);
  await answer();
  await answer();
  add(6);
  add(7);
  groups.flush();
  expect(sent.slice(3)).toEqual([[6], [7]]);
  expect(log).toEqual(["0: 0", "1: 1", "2: 2", "3: 3", "4: 4", "5: 5"]);
});

test("a step waits for another while its device has three, but not for what must follow it", async () => {
  const { log, sent, groups, add, answer, requests } = setUp();
  for (const number of [0, 1, 2]) add(number);
  groups.send();
  expect(sent).toEqual([[0], [1], [2]]);
  add(3);
  groups.send();
  expect(sent).toHaveLength(3);
  await answer();
  add(4);
  groups.send();
  expect(sent.slice(3)).toEqual([[3, 4]]);
  await answer();
  add(5);
  groups.send();
  expect(sent).toHaveLength(4);
  groups.flush();
  expect(sent.slice(4)).toEqual([[5]]);
  add(6);
  groups.send();
  expect(sent).toHaveLength(5);
  for (const { lost } of requests.splice(0)) lost!();
  groups.send();
  expect(sent.slice(5)).toEqual([[6]]);
  expect(log).toEqual(["0: 0", "1: 1", "2 is lost", "3 is lost", "4 is lost", "5 is lost"]);
});

test("each device has steps of its own, and the steps of a lost one are lost one by one", () => {
  const { log, sent, requests, groups, add } = setUp();
  for (const number of [0, 1, 2, 3]) add(number, number % 2);
  groups.flush();
  expect(sent).toEqual([[0], [2], [1], [3]]);
  for (const { lost } of requests) lost!();
  expect(log).toEqual(["0 is lost", "2 is lost", "1 is lost", "3 is lost"]);
});

test("a device that does not exist is an error of the policy", () => {
  const { add } = setUp();
  expect(() => add(0, 2)).toThrow(RangeError);
});
