import { createServer, type Server } from "node:http";
import type { Feed } from "./feed.js";
import { refusalOf, securityHeaders } from "./requests.js";

/** A file of the page, by the path that it is asked for at. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

export type PageFiles = Readonly<Record<string, PageFile>>;

export interface Served {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves a page and its feed at `/events` on 127.0.0.1, to be read only.
 *
 * @param ports - tried one after the other; 0 is any that is free.
 * @throws the system's error of the last one, if there is none to listen on.
 */
export async function serveDashboard(
  files: PageFiles,
  feed: Feed,
  ports: readonly number[],
): Promise<Served> {
  let port = 0;
  const server = createServer((request, response) => {
    const refusal = refusalOf(request.method, request.headers, port);
    if (refusal !== null) {
      response.writeHead(refusal, { ...securityHeaders, allow: "GET" }).end();
      return;
    }
    const path = (request.url ?? "").replace(/\?.*/u, "");
    if (path === "/events" && !feed.isFull()) {
      response.writeHead(200, { ...securityHeaders, "content-type": "text/event-stream" });
      feed.add(response);
      return;
    }
    if (path === "/events") {
      response.writeHead(503, { ...securityHeaders, "retry-after": "5" }).end();
      return;
    }
    const file = Object.hasOwn(files, path) ? files[path] : undefined;
    if (file === undefined) response.writeHead(404, securityHeaders).end();
    else response.writeHead(200, { ...securityHeaders, "content-type": file.type }).end(file.text);
  });
  port = await listen(server, ports);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listen(server: Server, [first = 0, ...others]: readonly number[]): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(first, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    const isTaken = ["EADDRINUSE", "EACCES"].includes(
      String((error as NodeJS.ErrnoException).code),
    );
    if (!isTaken || others.length === 0) throw error;
    return listen(server, others);
  }
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port to listen on");
  return address.port;
}
