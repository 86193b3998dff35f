import { GatewayError } from "../domain/gateway-error.ts";
import { decodedBody, isPlain, requireLength, tooLarge } from "./decoded-body.ts";

/** The bytes of a JSON body, decoded, at most `maxBytes` before and after decoding. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  requireJson(request.headers.get("content-type"));
  requireLength(request, maxBytes);
  const hasLength = request.headers.has("content-length");
  if (hasLength && isPlain(request)) return new Uint8Array(await request.arrayBuffer());
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of decodedBody(request)) {
    total += piece.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Refuses a content type other than JSON in UTF-8; none at all is taken for JSON. */
export function requireJson(contentType: string | null): void {
  if (contentType === null || contentType === "application/json") return;
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (type === "application/json" && isUtf8) return;
  const message = isUtf8 ? "Send the body as `application/json`." : "Send the body in UTF-8.";
  throw new GatewayError("unsupported_media_type", message);
}
