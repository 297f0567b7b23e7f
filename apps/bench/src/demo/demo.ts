import { buildDemo } from "./build-demo.js";
import { servePage } from "./serve-page.js";

export interface DemoOptions {
  readonly port?: number;
}

/** Serves the page until it is interrupted. */
export async function demo({ port = 0 }: DemoOptions): Promise<void> {
  const page = await servePage(await buildDemo(), port);
  process.stdout.write(`${page.url} trains in your browser, on WebGL; Ctrl+C ends it\n`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await page.close();
}
