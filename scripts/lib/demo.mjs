// @ts-check
// What `npm start` runs once everything is built; the check "demo" runs the same, shorter.

export const program = "packages/cli/dist/main.js";

export const parameters = ["train", "--sample", "--out", "runs/demo", "--force"];
