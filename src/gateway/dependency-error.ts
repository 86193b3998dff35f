/** The error when the database or the storage of pictures is unavailable. */
export class DependencyError extends Error {
  override readonly name = "DependencyError";
  readonly dependency: "database" | "blobs";
  /** Advice to the operator, for an error that waiting does not end; null otherwise. */
  readonly advice: string | null;

  constructor(
    message: string,
    { dependency = "database", advice = null, ...options }: DependencyErrorOptions = {},
  ) {
    super(message, options);
    this.dependency = dependency;
    this.advice = advice;
  }
}

interface DependencyErrorOptions extends ErrorOptions {
  dependency?: DependencyError["dependency"];
  advice?: string | null;
}
