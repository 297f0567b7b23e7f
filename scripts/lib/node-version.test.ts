import { expect, it } from "vitest";
import { whyTooOld } from "./node-version.mjs";

it("lets the lowest allowed version and all newer ones pass", () => {
  for (const version of ["20.19.0", "20.20.2", "22.1.0", "100.0.0"]) {
    expect(whyTooOld(version, ">=20.19")).toBeUndefined();
  }
});

it("says which Node is needed where an older one runs", () => {
  for (const version of ["20.18.9", "18.20.4", "8.0.0"]) {
    expect(whyTooOld(version, ">=20.19")).toBe(
      `Node ${version} is too old: this needs Node 20.19 or newer.`,
    );
  }
});
