/** The folder of this package: sources and the built program lie one level below it. */
const folder = new URL("../", import.meta.url);

/** A file of this package that is not part of the built program. */
export function ownFile(path: string): URL {
  return new URL(path, folder);
}
