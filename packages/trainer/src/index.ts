export { TrainerError, type TrainerErrorCode } from "./errors.js";
export {
  defaultDevices,
  formatDevice,
  parseDevices,
  type DeviceKind,
  type DeviceRole,
  type DeviceSpec,
  type GpuChoice,
  type GpuTechnology,
} from "./device/device-spec.js";
export type { DeviceUsage } from "./device/api.js";
export { salvageOf, type Salvage } from "./run/salvage.js";
export { train, type TrainOptions, type TrainResult } from "./run/train.js";
export type { DeviceControl, DeviceControlOptions } from "./run/device-control.js";
export type { PaceLimits } from "./coordinator/pace.js";
export type { FailedRetry, Replaced } from "./coordinator/replacements.js";
export {
  chooseKernels,
  type ChosenKernels,
  type KernelsChoice,
  type KernelsOptions,
} from "./run/choose-kernels.js";
export {
  gpujsSupport,
  type GpuDevice,
  type GpujsDevice,
  type GpujsNodeMode,
  type GpujsSupport,
  type GpuSupport,
} from "@heterosgd/gpu-kernels";
export {
  findGpu,
  gpuSupport,
  hardwareGpus,
  isGpuSpec,
  mayHaveGpus,
  type GpuSpec,
} from "./run/choose-gpu.js";
export type {
  CpuKernelsDescription,
  GpujsKernelsDescription,
  GpuKernelsDescription,
  KernelsDescription,
} from "./device/device-kernels.js";
export { estimateMemory, type EstimateOptions, type MemoryEstimate } from "./run/memory.js";
export type { GpuMemory } from "./run/memory-gpu.js";
export { collectGarbage, processMemory, type ProcessMemory } from "./run/memory-process.js";
export { evaluateModel, type EvaluateModelOptions } from "./run/evaluate-model.js";
export {
  createPredictor,
  predict,
  type Prediction,
  type Predictor,
  type PredictorOptions,
  type PredictOptions,
} from "./run/predictor.js";
export {
  checkpointsFolder,
  checkRunFolder,
  createRunFolder,
  devicesFile,
  discardedEventsFile,
  isHalfMade,
  replacementFolder,
  resumeRunFolder,
  runFiles,
  tensorboardFolder,
  type RunFolder,
  type RunFolderOptions,
} from "./run/run-folder.js";
export { makeFolders, probeFolder, reasonOf } from "./run/make-folders.js";
export { writeWhole } from "./run/write-whole.js";
export { isReachable, lockRun, runOwner, type RunLock, type RunOwner } from "./run/run-lock.js";
export { checkResumable, hasWorkLeft } from "./run/resume.js";
export type { Checkpoint, CheckpointSummary } from "./checkpoint/open-checkpoint.js";
export { openCheckpoint } from "./checkpoint/open-checkpoint.js";
export {
  bestCheckpoint,
  latestCheckpoint,
  listCheckpoints,
  type CheckpointList,
  type UnusableCheckpoint,
} from "./checkpoint/list-checkpoints.js";
export {
  discardAfter,
  pruneCheckpoints,
  sweepCheckpoints,
} from "./checkpoint/remove-checkpoints.js";
export { differences, fingerprintConfiguration, fingerprintOf } from "./checkpoint/fingerprint.js";
export type {
  CheckpointDevice,
  CheckpointRecord,
  EventsPosition,
  Fingerprints,
} from "./checkpoint/record.js";
export type { CheckpointOptions } from "./run/checkpointer.js";
export { replay, type ReplayOptions } from "./run/replay.js";
export type { Patience, PatienceState, StopRules } from "./run/stop-rules.js";
export { metricValue, parseTarget, type Target } from "./run/target.js";
export type {
  AddFailedRecord,
  EndRecord,
  EvaluationRecord,
  JoinedRecord,
  LostRecord,
  RecordedEvent,
  RetryFailedRecord,
  NotSavedRecord,
  ResumeRecord,
  RunEvent,
  SavedRecord,
  SimulationRecord,
  StartRecord,
} from "./run/run-event.js";
export type { DeviceSummary } from "./run/tally.js";
export { simulate, type SimulateOptions } from "./simulate/simulate.js";
export { builtInProfiles } from "./simulate/built-in-profiles.js";
export {
  checkProfile,
  type KindProfile,
  type Link,
  type Profile,
  type ProfileDevice,
  type ProfileNetwork,
  type SpeedPlan,
} from "./simulate/profile.js";
export { formatSimulatedDevice, parseSimulatedDevices } from "./simulate/simulated-devices.js";
export {
  calibrate,
  checkCalibration,
  type CalibrateOptions,
  type CalibrationCheck,
} from "./simulate/calibrate.js";
