import { createServer } from "node:http";
import { extname } from "node:path";
import type { PageFiles } from "./build-demo.js";

export interface ServedPage {
  readonly url: string;
  close(): Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".gz": "application/gzip",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

/** The page may load what it is made of, and nothing else. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Serves these files, and `index.html` for the root, to this machine alone.
 *
 * @param port - 0: any that is free.
 * @throws the system's error, where the port is taken for one.
 */
export async function servePage(files: PageFiles, port: number): Promise<ServedPage> {
  let hosts: readonly string[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    // A name of somebody else's that leads here is none of this page's.
    if (!hosts.includes(headers.host ?? "")) return response.writeHead(421).end();
    if (method !== "GET" && method !== "HEAD") {
      return response.writeHead(405, { allow: "GET, HEAD" }).end();
    }
    const name = new URL(url ?? "/", "http://localhost").pathname.slice(1) || "index.html";
    const content = files.get(name);
    if (content === undefined) return response.writeHead(404).end();
    return response
      .writeHead(200, {
        "content-type": types[extname(name)] ?? "application/octet-stream",
        "content-length": content.length,
        "content-security-policy": policy,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      })
      .end(method === "HEAD" ? undefined : content);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port to listen on");
  hosts = [`127.0.0.1:${address.port}`, `localhost:${address.port}`];
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
