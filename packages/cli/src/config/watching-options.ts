/** How a run is watched, beyond the lines on stderr. */
import * as z from "zod";
import { option, running } from "./option-look.js";

export const watchingOptions = {
  tensorboard: option(
    z.union([z.boolean(), z.string().min(1)]).default(false),
    { group: running, value: "FOLDER", path: true, expected: "true, false or a path" },
    "Writes what TensorBoard shows: into the run's folder, or into a folder of the run's name within this one.",
  ),
  dashboard: option(
    z.union([z.literal(0), z.int().min(1024).max(65_535), z.boolean()]).default(false),
    {
      group: running,
      value: "PORT",
      expected: "true, false, 0 or a port from 1024 to 65,535",
    },
    "Shows the run in a browser while it goes on, on this machine alone: at port 6464 or the next one that is free, at the port named, or (0) at any.",
  ),
};
