/** What draws here, by its own name, or why there is nothing that could. */
export type WebGl = FoundWebGl | { readonly available: false; readonly reason: string };

export interface FoundWebGl {
  readonly available: true;
  /** gpu.js's name for this version of WebGL. */
  readonly mode: "webgl2" | "webgl";
  readonly renderer: string;
  readonly isSoftware: boolean;
}

export function findWebGl(canvas: HTMLCanvasElement): WebGl {
  const gl = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
  if (gl === null) return { available: false, reason: "this browser offers no WebGL here" };
  // Without them kernels could read no numbers, or write none.
  const mode = "drawBuffers" in gl ? "webgl2" : "webgl";
  const needed = mode === "webgl2" ? "EXT_color_buffer_float" : "OES_texture_float";
  const has = gl.getExtension(needed) !== null;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  if (!has) {
    return {
      available: false,
      reason: `that of ${renderer} has no numbers to compute with (${needed})`,
    };
  }
  return { available: true, mode, renderer, isSoftware: isSoftware(renderer) };
}

/** Renderers that compute on the processor. */
export function isSoftware(renderer: string): boolean {
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
}
