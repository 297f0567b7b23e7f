/** The thread that writes checkpoints, beside the bundle, where the trainer looks for it. */
// oxlint-disable-next-line import/no-unassigned-import -- running it is all there is to it
import "@heterosgd/trainer/checkpoint.worker";
