/** How batch sizes move after a mega-batch. Each rule has one constant, with a default. */
export type BatchScaling =
  /** Ours. `gain` is κ. */
  | { readonly rule: "relative"; readonly gain?: number }
  /** Paper A's. `step` is β in rows, b_min/2 if left out. */
  | { readonly rule: "proportional"; readonly step?: number }
  /** The authors' code's. `step` is β in rows, 32 if left out. */
  | { readonly rule: "fixed"; readonly step?: number }
  /** Sizes stay as they are. */
  | { readonly rule: "off" };
