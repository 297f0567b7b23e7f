import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { codeOf } from "../run/make-folders.js";

/** Which checkpoint a folder holds: `step-N`, and `step-N-2` and so on for others at that step. */
export interface StepFolder {
  readonly step: number;
  /** Counts from 1 those at the same step. */
  readonly turn: number;
}

export function folderName({ step, turn }: StepFolder): string {
  return turn === 1 ? `step-${step}` : `step-${step}-${turn}`;
}

/** Null for what is no checkpoint's folder. */
export function parseFolderName(name: string): StepFolder | null {
  const match = /^step-(\d{1,16})(?:-(\d{1,6}))?$/.exec(name);
  if (match === null) return null;
  const folder = { step: Number(match[1]), turn: Number(match[2] ?? 1) };
  return folderName(folder) === name ? folder : null;
}

/** A checkpoint is written in such a folder, which nobody takes for one. */
export function temporaryName(step: number): string {
  return `.step-${step}-${randomUUID()}.tmp`;
}

export function isTemporary(name: string): boolean {
  return /^\.step-\d{1,16}-[0-9a-f-]{36}\.tmp$/.test(name);
}

export function compareFolders(a: StepFolder, b: StepFolder): number {
  return a.step - b.step || a.turn - b.turn;
}

/** The checkpoints' folders in `folder`, whole or not, the oldest first; none where it is missing. */
export async function stepFolders(folder: string): Promise<readonly StepFolder[]> {
  const names = await namesIn(folder);
  return names
    .map(parseFolderName)
    .filter((found) => found !== null)
    .toSorted(compareFolders);
}

/** What lies in a folder; nothing where it is missing. @throws the system's error */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
}
