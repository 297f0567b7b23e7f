// What a check is and what it answers. A check never prints and never stops the others; the report
// does the rest. Types only: Node 20 runs no TypeScript, so the scripts themselves are JavaScript
// with checked types.
import type { WorkspacePackage } from "./workspace.mjs";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Result {
  /** None if the check passed. */
  readonly problems: readonly string[];
  /** A few words behind the check's name. */
  readonly note?: string;
  /** Why the check could not be made. */
  readonly skipped?: string;
  /** Single tests that count beside the check itself. */
  readonly tests?: Readonly<Counts>;
  /** One line for each group of tests that was skipped. */
  readonly skippedTests?: readonly string[];
}

export interface Tarball {
  /** The package's name. */
  readonly name: string;
  /** Absolute path. */
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** What the checks of one run share. */
export interface Context {
  readonly packages: readonly WorkspacePackage[];
  /** Every public package as it would be published, packed once. */
  readonly tarballs: () => Promise<readonly Tarball[]>;
  /** A new folder that is removed at the end. */
  readonly temporaryFolder: (name: string) => string;
}

export interface Check {
  readonly name: string;
  /** One line for `npm test -- --list`. */
  readonly about: string;
  readonly run: (context: Context) => Promise<Result>;
}
