/**
 * Comlink carries name, message and stack of an error across threads, but not its `code`. This adds
 * the code to what is sent; the receiving side of Comlink takes over whatever it gets, so only a
 * worker, whose thread is its own, needs it.
 */
import * as Comlink from "comlink";

interface Thrown {
  readonly value: unknown;
}

/** An error as Comlink sends it. */
interface Sent {
  readonly isError: boolean;
  readonly value: object;
}

export function sendErrorCodes(): void {
  const original = Comlink.transferHandlers.get("throw") as
    | Comlink.TransferHandler<Thrown, Sent>
    | undefined;
  if (original === undefined) throw new TypeError("Comlink has no handler for thrown values");
  Comlink.transferHandlers.set("throw", {
    ...original,
    serialize(thrown: Thrown) {
      const [sent, transfer] = original.serialize(thrown);
      const { code } = Object(thrown.value) as { readonly code?: unknown };
      if (!sent.isError || typeof code !== "string") return [sent, transfer];
      return [{ isError: true, value: { ...sent.value, code } }, transfer];
    },
  });
}
