/**
 * An error that belongs to the normal course of a request and is not a bug. It has no stack trace, because nobody would
 * read it, and collecting it takes a tenth of the cost of a refused request.
 */
export class ExpectedError extends Error {
  constructor(message: string, cause: unknown) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
  }
}
