/** Which requests are answered: those of a page of this server, and of nobody else. */
import type { IncomingHttpHeaders } from "node:http";

/** Why a request is refused, as a status of HTTP; null where it is not. */
export function refusalOf(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  port: number,
): 403 | 405 | 421 | null {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  // A name of somebody else's that leads here (DNS rebinding) is none of this server's.
  if (!hosts.includes(headers.host?.toLowerCase() ?? "")) return 421;
  if (method !== "GET") return 405;
  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) return 403;
  const site = headers["sec-fetch-site"];
  // Browsers say where a request comes from. A link from elsewhere may open the page, and do nothing else.
  const isOpened =
    headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  const isForeign = site !== undefined && site !== "same-origin" && site !== "none";
  return isForeign && !isOpened ? 403 : null;
}

/** The page may load what this server has, and nothing from anywhere else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const securityHeaders = {
  "content-security-policy": POLICY,
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;
