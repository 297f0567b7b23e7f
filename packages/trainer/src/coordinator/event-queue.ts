/** Hands values from whoever has them to one reader, in order. */
export interface EventQueue<T> {
  readonly push: (value: T) => void;
  /** The reader gets this error next, and again from then on. */
  readonly fail: (error: unknown) => void;
  readonly next: () => Promise<T>;
  /** Whether the reader would have to wait. */
  readonly isEmpty: () => boolean;
}

export function createEventQueue<T>(): EventQueue<T> {
  const values: T[] = [];
  let failure: { readonly error: unknown } | undefined;
  let waiting: { resolve: (value: T) => void; reject: (error: unknown) => void } | undefined;

  return {
    isEmpty: () => values.length === 0 && failure === undefined,
    push(value) {
      if (waiting === undefined) values.push(value);
      else {
        waiting.resolve(value);
        waiting = undefined;
      }
    },
    fail(error) {
      failure ??= { error };
      waiting?.reject(failure.error);
      waiting = undefined;
    },
    next: () =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) reject(failure.error);
        else if (values.length > 0) resolve(values.shift() as T);
        else waiting = { resolve, reject };
      }),
  };
}
