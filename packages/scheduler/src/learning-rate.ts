/** A learning rate as data, in terms of t, the epochs trained so far (a fraction counts). */
export type LearningRateSchedule =
  /** η(t) = rate. */
  | { readonly kind: "constant"; readonly rate: number }
  /** η(t) = rate · factor^⌊t/everyEpochs⌋. */
  | {
      readonly kind: "step";
      readonly rate: number;
      readonly everyEpochs: number;
      readonly factor: number;
    }
  /** η(t) falls from `rate` to `finalRate` (0 if left out) along half a cosine over `epochs`, and stays there. */
  | {
      readonly kind: "cosine";
      readonly rate: number;
      readonly epochs: number;
      readonly finalRate?: number;
    }
  /** η(t) = rate / (1 + decay · t). */
  | { readonly kind: "inverse"; readonly rate: number; readonly decay: number };
