/** A column of a table: its heading, and whether its cells are numbers. */
export interface Column {
  readonly heading: string;
  readonly align: "left" | "right";
}

/** Lines of a table whose columns are as wide as their widest cell, two spaces apart. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const headings = columns.map(({ heading }) => heading);
  const all = headings.every((heading) => heading === "") ? rows : [headings, ...rows];
  const widths = columns.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  return all.map((row) =>
    columns
      .map(({ align }, i) => {
        const cell = row[i] ?? "";
        return align === "left" ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!);
      })
      .join("  ")
      .trimEnd(),
  );
}

export function left(heading: string): Column {
  return { heading, align: "left" };
}

export function right(heading: string): Column {
  return { heading, align: "right" };
}

/** Lines of `name  value` pairs. */
export function pairLines(pairs: readonly (readonly [string, string])[]): readonly string[] {
  return tableLines([left(""), left("")], pairs);
}
