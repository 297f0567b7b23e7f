/**
 * `DONE`, a checkpoint's last file: it says that all others are there, and what they must be. Its text
 * is fixed to the last byte by what it says.
 */
import { TrainerError } from "../errors.js";
import { count, digest, listOf, members, oneOf } from "./checks.js";
import { parseSafeJson } from "./safe-json.js";

/** The files of a checkpoint beside `DONE`, in the order in which they are listed. */
export const checkpointFiles = [
  "state.json",
  "model.safetensors",
  "optimizer.safetensors",
  "devices.safetensors",
] as const;

export type CheckpointFile = (typeof checkpointFiles)[number];

export const doneFile = "DONE";

/** Files that every checkpoint has. */
const NEEDED: readonly CheckpointFile[] = ["state.json", "model.safetensors"];

/** Longer is no `DONE` that anybody wrote. */
export const MOST_MANIFEST_BYTES = 4096;

export interface FileSum {
  readonly name: CheckpointFile;
  readonly bytes: number;
  /** Of its contents, in hexadecimal. */
  readonly sha256: string;
}

export interface Manifest {
  readonly step: number;
  /** In the order of `checkpointFiles`. */
  readonly files: readonly FileSum[];
}

const formatName = "heterosgd-checkpoint";
const formatVersion = 1;

const manifestCheck = members({
  format: oneOf(formatName),
  version: oneOf(formatVersion),
  step: count(),
  files: listOf(
    members({
      name: oneOf(...checkpointFiles),
      bytes: count(1),
      sha256: digest,
    }),
    checkpointFiles.length,
  ),
});

export function formatManifest({ step, files }: Manifest): Uint8Array {
  const listed = files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }));
  const document = { format: formatName, version: formatVersion, step, files: listed };
  return new TextEncoder().encode(`${JSON.stringify(document, null, 1)}\n`);
}

/** @throws TrainerError CHECKPOINT_DAMAGED, CHECKPOINT_FORMAT (also of another version) */
export function parseManifest(bytes: Uint8Array): Manifest {
  const value = parseSafeJson(bytes, doneFile);
  // Another version may have other members.
  const { format, version } = Object(value) as Record<string, unknown>;
  if (format === formatName && Number.isSafeInteger(version) && version !== formatVersion) {
    throw new TrainerError(
      "CHECKPOINT_FORMAT",
      `its format has version ${Number(version)}, this program reads ${formatVersion}; update heterosgd`,
    );
  }
  const { step, files } = manifestCheck(value, doneFile);
  const names = files.map(({ name }) => name);
  const inOrder = checkpointFiles.filter((name) => names.includes(name));
  if (!NEEDED.every((name) => names.includes(name)) || inOrder.join() !== names.join()) {
    throw new TrainerError(
      "CHECKPOINT_FORMAT",
      `${doneFile} lists ${names.join(", ") || "no files"}, expected ${checkpointFiles.join(", ")}`,
    );
  }
  const manifest = { step, files };
  if (Buffer.compare(formatManifest(manifest), bytes) !== 0) {
    throw new TrainerError("CHECKPOINT_DAMAGED", `${doneFile} is not as it was written`);
  }
  return manifest;
}
