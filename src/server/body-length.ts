import { GatewayError } from "../domain/gateway-error.ts";

const KIB = 1024;

/** Refuses a body whose declared length is over the limit, before a byte of it is read. */
export function requireLength(request: Request, maxBytes: number): void {
  if ((declaredLength(request) ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** The `Content-Length`; null of a chunked body. */
export function declaredLength({ headers }: Request): number | null {
  const length = headers.get("content-length");
  return length === null ? null : Number(length);
}

/** The error for a body over its route's limit. */
export function tooLarge(maxBytes: number): GatewayError {
  const kib = maxBytes / KIB;
  const size = kib < KIB ? `${kib} KiB` : `${kib / KIB} MiB`;
  return new GatewayError("payload_too_large", `The body may have at most ${size}.`);
}
