/** The line of a failure that says what it is, of all that a process printed of it. */
export function gist(complaints: string): string {
  const lines = complaints.trim().split("\n");
  const [error] = lines.flatMap((line) => /(?:^|: )(\w*Error\b.*)$/u.exec(line)?.[1] ?? []);
  return (error ?? lines.slice(-3).join("; ")).trim();
}
