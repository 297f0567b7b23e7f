// @ts-check
import { changesetsCheck } from "./changesets.mjs";
import { browserCheck } from "./browser.mjs";
import { bundlesCheck } from "./bundles.mjs";
import { demoCheck } from "./demo.mjs";
import { examplesCheck } from "./examples.mjs";
import { importsCheck } from "./imports.mjs";
import { leftoversCheck } from "./leftovers.mjs";
import { manifestsCheck } from "./manifests.mjs";
import { formatCheck, lintCheck, typesCheck, unusedCheck } from "./source-tools.mjs";
import { nativeFuzzCheck } from "./native-fuzz.mjs";
import { publintCheck } from "./publint.mjs";
import { resolutionCheck } from "./resolution.mjs";
import { testsCheck } from "./tests.mjs";

/**
 * Every check of `npm test`, longest first.
 *
 * @type {readonly import("../lib/check.js").Check[]}
 */
export const checks = [
  testsCheck,
  nativeFuzzCheck,
  typesCheck,
  lintCheck,
  formatCheck,
  unusedCheck,
  importsCheck,
  leftoversCheck,
  changesetsCheck,
  manifestsCheck,
  publintCheck,
  resolutionCheck,
  bundlesCheck,
  browserCheck,
  examplesCheck,
  demoCheck,
];
