/** A suite or a folder of results that cannot be used as it is: the message says what to do. */
export class SuiteError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SuiteError";
  }
}
