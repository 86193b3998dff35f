/**
 * An error that belongs to the course of a request, and is no bug. It has no stack trace: nobody reads one, and to
 * collect it is a tenth of what a refused request costs.
 */
export class ExpectedError extends Error {
  constructor(message: string, cause: unknown) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
  }
}
