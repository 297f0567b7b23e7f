/** Why something can't be had, and what would help. */
export interface Lack {
  readonly ok: false;
  readonly reason: string;
  readonly remedy: string;
}

/** The first line of what was thrown. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n", 1)[0]!;
}
