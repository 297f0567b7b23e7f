// @ts-check
/**
 * The first fenced block of a language.
 *
 * @param {string} markdown
 * @param {string} language such as `ts`
 * @returns {string | undefined}
 */
export function firstBlock(markdown, language) {
  const fence = new RegExp(`^\`\`\`${language}[^\\S\\n]*\\r?\\n([\\s\\S]*?)^\`\`\``, "m");
  return fence.exec(markdown)?.[1];
}

/**
 * The lines of a README that call a command, from the first `sh` block that has any, as a shell
 * runs them where the command is on the PATH: without a leading `$` or `npx`, continued lines
 * joined.
 *
 * @param {string} markdown
 * @param {string} command
 * @returns {readonly string[]}
 */
export function commandLines(markdown, command) {
  for (const [, block = ""] of markdown.matchAll(/^```sh[^\S\n]*\r?\n([\s\S]*?)^```/gm)) {
    const lines = block
      .replaceAll(/\\\r?\n\s*/g, "")
      .split("\n")
      .map((line) => line.trim().replace(/^(\$ )?(npx )?/, ""))
      .filter((line) => line === command || line.startsWith(`${command} `));
    if (lines.length > 0) return lines;
  }
  return [];
}
