/** One table, for the terminal and for Markdown. */
import Table from "cli-table3";

export interface Cells {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function terminalTable({ head, rows }: Cells): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) table.push([...row]);
  return table.toString();
}

export function markdownTable({ head, rows }: Cells): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", "<br>")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
