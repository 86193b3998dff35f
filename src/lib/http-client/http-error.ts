/**
 * Why a request got no whole response: `unsent`, nothing of it reached the other side; `closed`, the connection ended
 * before the response did; `invalid`, what came is not valid HTTP/1.1.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly kind: "unsent" | "closed" | "invalid";
  /** The system's or the certificate check's own code, where there is one. */
  readonly code: string | undefined;

  constructor(kind: HttpError["kind"], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  }
}
