/**
 * An error that belongs to the normal course of a request and is no bug. It has no stack trace: nobody reads one, and
 * collecting it takes a tenth of the cost of a refused request.
 */
export class ExpectedError extends Error {
  constructor(message: string, cause: unknown) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
  }
}
