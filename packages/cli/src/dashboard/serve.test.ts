import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createFeed, type Feed } from "./feed.js";
import { serveDashboard, type Served } from "./serve.js";

const files = {
  "/": { type: "text/html; charset=utf-8", text: "<p>page" },
  "/page.js": { type: "text/javascript; charset=utf-8", text: "1" },
};
let feed: Feed;
let served: Served;

beforeAll(async () => {
  feed = createFeed({ everyMs: 10 });
  served = await serveDashboard(files, feed, [0]);
});

afterAll(async () => {
  await feed.end();
  await served.close();
});

async function ask(path: string, { method = "GET", headers = {} } = {}): Promise<IncomingMessage> {
  const asking = request({ host: "127.0.0.1", port: served.port, method, path, headers }).end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return answer;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of answer.setEncoding("utf8")) text += part;
  return text;
}

test.each([
  ["GET", "/", {}, 200],
  ["GET", "/?a=b", {}, 200],
  ["GET", "/page.js", {}, 200],
  ["GET", "/other", {}, 404],
  ["GET", "/../page.js", {}, 404],
  ["GET", "//page.js", {}, 404],
  ["GET", "/__proto__", {}, 404],
  ["GET", "/constructor", {}, 404],
  ["GET", "*", {}, 404],
  ["POST", "/", {}, 405],
  ["DELETE", "/events", {}, 405],
  ["HEAD", "/", {}, 405],
  ["GET", "/", { host: "example.org" }, 421],
  ["GET", "/events", { host: "example.org" }, 421],
  ["GET", "/events", { origin: "https://example.org" }, 403],
])("%s %s with %j is answered by %d", async (method, path, headers, status) => {
  const answer = await ask(path, { method, headers });
  expect(answer.statusCode).toBe(status);
  expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
  expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  await textOf(answer);
});

test("files are what they are", async () => {
  const answer = await ask("/page.js");
  expect(answer.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  expect(await textOf(answer)).toBe("1");
});

test("events come as they happen", async () => {
  const answer = await ask("/events");
  expect(answer.headers["content-type"]).toBe("text/event-stream");
  let text = "";
  answer.setEncoding("utf8").on("data", (part: string) => (text += part));
  await vi.waitFor(() => expect(text).toContain('data: {"phase":"starting","run":null}\n\n'));
  feed.begin("now");
  await vi.waitFor(() => expect(text).toContain('"name":"now"'));
  answer.destroy();
});

test("it listens on this machine's own address alone", async () => {
  const socket = connect({ host: "127.0.0.2", port: served.port });
  const outcome = await Promise.race([
    once(socket, "connect").then(() => "connected"),
    once(socket, "error").then(() => "refused"),
  ]).catch(() => "refused");
  socket.destroy();
  expect(outcome).toBe("refused");
});

test("a port that is taken is passed over for the next one, or an error if it is the only one", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const idle = createFeed();
  const next = await serveDashboard(files, idle, [port, 0]);
  expect(next.port).not.toBe(port);
  await next.close();
  await expect(serveDashboard(files, idle, [port])).rejects.toThrow("EADDRINUSE");
  other.close();
});

test("a viewer that does not read misses what others get, and is sent little of it later", async () => {
  const busy = createFeed({ everyMs: 1, share: 1 });
  const server = await serveDashboard(files, busy, [0]);
  busy.begin("run");
  const devices = Array.from({ length: 1500 }, (_, device) => ({
    device,
    name: `device ${device}`,
  }));
  busy.event({ at: 0, type: "start", algorithm: "a", seed: 1, trainRows: 1, devices });
  const viewer = () => {
    const socket = connect({ host: "127.0.0.1", port: server.port });
    const seen = { messages: 0, bytes: 0 };
    socket.setEncoding("latin1").on("data", (text: string) => {
      seen.messages += text.split("event: run").length - 1;
      seen.bytes += text.length;
    });
    socket.write(`GET /events HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n\r\n`);
    return { socket, seen };
  };
  const [reading, deaf] = [viewer(), viewer()];
  deaf.socket.pause();
  // More by far than the system keeps for a connection.
  for (let at = 1; reading.seen.bytes < 60e6; at++) {
    busy.event({ at, type: "epoch", epoch: at });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  deaf.socket.resume();
  const ended = Promise.all([reading, deaf].map(({ socket }) => once(socket, "close")));
  await busy.end();
  await server.close();
  await ended;
  expect(deaf.seen.messages).toBeGreaterThan(0);
  expect(deaf.seen.messages).toBeLessThan(reading.seen.messages / 2);
}, 120_000);
