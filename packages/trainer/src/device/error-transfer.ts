/**
 * Comlink carries name, message and stack of an error across threads, but not its `code`. This replaces
 * its handler for thrown values by one that does. Both sides must install it before the first call.
 */
import * as Comlink from "comlink";

interface CarriedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
}

interface Thrown {
  readonly value: unknown;
}

export function installErrorTransfer(): void {
  const original = Comlink.transferHandlers.get("throw");
  if (original === undefined) throw new TypeError("Comlink has no handler for thrown values");
  Comlink.transferHandlers.set("throw", {
    canHandle: (value): value is unknown => original.canHandle(value),
    serialize: (thrown: unknown) => [carry((thrown as Thrown).value), []],
    deserialize: (carried: CarriedError): never => {
      throw revive(carried);
    },
  });
}

function carry(value: unknown): CarriedError {
  if (!(value instanceof Error)) {
    return { name: "Error", message: String(value), stack: undefined, code: undefined };
  }
  const { code } = value as { code?: unknown };
  return {
    name: value.name,
    message: value.message,
    stack: value.stack,
    code: typeof code === "string" ? code : undefined,
  };
}

function revive({ name, message, stack, code }: CarriedError): Error {
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return code === undefined ? error : Object.assign(error, { code });
}
