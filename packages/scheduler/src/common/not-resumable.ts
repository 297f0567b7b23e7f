import { unexpected } from "./devices.js";

/** What a policy says that can't be resumed yet. */
export const notResumable = {
  resume: (): never => {
    throw unexpected("resume");
  },
  devices: (): never => {
    throw unexpected("devices");
  },
  checkState: (): never => {
    throw unexpected("checkState");
  },
};
