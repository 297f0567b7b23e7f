import { expect, test } from "vitest";
import { refusalOf, securityHeaders } from "./requests.js";

const host = "127.0.0.1:6464";
const from = (site: string, mode: string, dest: string) => ({
  host,
  "sec-fetch-site": site,
  "sec-fetch-mode": mode,
  "sec-fetch-dest": dest,
});

test.each([
  ["GET", { host }],
  ["GET", { host: "localhost:6464" }],
  ["GET", { host: "LocalHost:6464" }],
  ["GET", { host, origin: `http://${host}` }],
  ["GET", from("same-origin", "cors", "empty")],
  // Typed into the address bar, and by a link from elsewhere.
  ["GET", from("none", "navigate", "document")],
  ["GET", from("cross-site", "navigate", "document")],
])("%s of %j is answered", (method, headers) => {
  expect(refusalOf(method, headers, 6464)).toBeNull();
});

test.each([
  [421, "GET", {}],
  [421, "GET", { host: "127.0.0.1" }],
  [421, "GET", { host: "127.0.0.1:6465" }],
  [421, "GET", { host: "example.org:6464" }],
  [421, "GET", { host: "127.0.0.1:6464.example.org" }],
  // As a name that was bound to this machine later would come.
  [421, "GET", { host: "rebound.example.org", origin: "http://rebound.example.org" }],
  [405, "HEAD", { host }],
  [405, "POST", { host }],
  [405, "OPTIONS", { host, origin: "https://example.org" }],
  [405, undefined, { host }],
  [403, "GET", { host, origin: "https://example.org" }],
  [403, "GET", { host, origin: "null" }],
  [403, "GET", { host, origin: `https://${host}` }],
  [403, "GET", { host, origin: "http://127.0.0.1:8080" }],
  [403, "GET", from("cross-site", "no-cors", "script")],
  [403, "GET", from("same-site", "no-cors", "image")],
  [403, "GET", from("cross-site", "navigate", "iframe")],
] as const)("%d: %s of %j is refused", (status, method, headers) => {
  expect(refusalOf(method, headers, 6464)).toBe(status);
});

test("the page may load nothing from anywhere else, and stands in no frame", () => {
  const policy = securityHeaders["content-security-policy"];
  expect(policy).toMatch(/^default-src 'none'; /u);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/u);
});
