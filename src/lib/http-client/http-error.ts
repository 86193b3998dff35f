/**
 * A request without a complete response. `unsent`: no byte of the request reached the other side. `closed`: the
 * connection ended before the response did. `invalid`: the received bytes are not valid HTTP/1.1.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly kind: "unsent" | "closed" | "invalid";
  /** The error code of the system or of the certificate check, if any. */
  readonly code: string | undefined;

  constructor(kind: HttpError["kind"], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  }
}
