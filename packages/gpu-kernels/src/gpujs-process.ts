/** Entry of the process that runs gpu.js for `isolation: "process"`, and looks for it. */
import { serve } from "./gpujs/node/serve.js";

serve();
