import { GatewayError } from "../../domain/gateway-error.ts";

const KIB = 1024;

/** Throws when the declared length of a body is over the limit, before a byte of it is read. */
export function requireLength(request: Request, maxBytes: number): void {
  if ((declaredLength(request) ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Returns the `Content-Length`: null for a chunked body, NaN for anything but digits, which no route serves. */
export function declaredLength({ headers }: Pick<Request, "headers">): number | null {
  const length = headers.get("content-length");
  if (length === null) return null;
  return /^\d+$/.test(length) ? Number(length) : Number.NaN;
}

/** Returns the error for a body over its route's limit. */
export function tooLarge(maxBytes: number): GatewayError {
  const kib = maxBytes / KIB;
  const size = kib < KIB ? `${kib} KiB` : `${kib / KIB} MiB`;
  return new GatewayError("payload_too_large", `The body may have at most ${size}.`);
}
