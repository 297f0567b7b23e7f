import { afterAll, afterEach } from "vitest";

// A test that prints is unfinished, or the code under test prints where a library should not. A
// test that expects output replaces the console's method itself (`vi.spyOn`).
const printed: string[] = [];

for (const method of ["log", "info", "warn", "error", "debug"] as const) {
  console[method] = (...values: unknown[]) => {
    printed.push(`console.${method}: ${values.map(String).join(" ")}`);
  };
}

function expectSilence(): void {
  const lines = printed.splice(0);
  if (lines.length > 0) throw new Error(`Printed while testing:\n${lines.join("\n")}`);
}

afterEach(expectSilence);
afterAll(expectSilence);
