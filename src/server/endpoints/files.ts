import { GatewayError } from "../../domain/gateway-error.ts";
import type { DeliverySettings } from "../../gateway/delivery/images.ts";
import { linkedPicture, type StoredPicture } from "../../gateway/delivery/stored-blobs.ts";
import { baseHeaders } from "../respond.ts";
import { queryOf, type HttpExchange } from "../http-exchange.ts";
import type { HttpRoute } from "../routes.ts";

/** Returns the route that serves delivered pictures by signed links. */
export function fileRoutes(settings: DeliverySettings): HttpRoute[] {
  return [
    {
      method: "GET",
      path: "/files/{name}",
      name: "files",
      family: "images",
      auth: "public",
      because: "the link carries its own signature and end",
      handle: (exchange) => file(settings, exchange),
    },
  ];
}

async function file(
  settings: DeliverySettings,
  { request, parameter, requestId }: HttpExchange,
): Promise<Response> {
  const query = queryOf(request.url);
  const expires = query.get("exp");
  const verdict = settings.links.check(parameter, expires, query.get("sig"));
  const picture =
    verdict === "invalid" ? null : await linkedPicture(settings, verdict, { name: parameter, expires });
  if (!picture) {
    const message =
      verdict === "invalid" ? "This link is not valid." : "This link has expired; make the picture again.";
    throw new GatewayError("not_found", message);
  }
  // A name identifies the bytes, because the name of a stored picture is never reused.
  const etag = `"${parameter}"`;
  const headers = {
    ...baseHeaders(requestId),
    etag,
    "content-type": picture.type,
    "content-disposition": `inline; filename="${parameter}"`,
    "cache-control": "private, max-age=3600, immutable",
    "accept-ranges": "bytes",
    // A file can be valid both as a picture and as a page, but must never run as a page.
    "content-security-policy": "default-src 'none'; sandbox",
  };
  if (namesTag(request.headers.get("if-none-match"), etag))
    return new Response(null, { status: 304, headers });
  const isRangeValid = (request.headers.get("if-range") ?? etag) === etag;
  const range = readRange(isRangeValid ? request.headers.get("range") : null, picture.size);
  if (range === "unsatisfiable") {
    return new Response(null, {
      status: 416,
      headers: { ...headers, "content-range": `bytes */${picture.size}` },
    });
  }
  const part = range ? picture.slice(range.start, range.end) : picture;
  const lengths: Record<string, string> = { "content-length": String(part.size) };
  if (range) lengths["content-range"] = `bytes ${range.start}-${range.end - 1}/${picture.size}`;
  const body = request.method === "HEAD" ? null : await bodyOf(part);
  return new Response(body, { status: range ? 206 : 200, headers: { ...headers, ...lengths } });
}

/** Returns the body. A small part is read whole, because the runtime sends streams in chunks and without a length. */
async function bodyOf(part: StoredPicture): Promise<Blob | ReadableStream> {
  if (part instanceof Blob) return part;
  return part.size <= MAX_WHOLE_BYTES ? await new Response(part.stream()).blob() : part.stream();
}

const MAX_WHOLE_BYTES = 512 * 1024;

/** True when an `If-None-Match` contains the tag, compared weakly (RFC 9110, 13.1.2). */
function namesTag(header: string | null, etag: string): boolean {
  const names = new Set((header ?? "").split(",").map((name) => name.trim().replace(/^W\//, "")));
  return names.has(etag) || names.has("*");
}

/**
 * Reads one byte range; `end` is exclusive. Returns null when there is no range. Also returns null for a header of
 * another form, which is ignored (RFC 9110).
 */
function readRange(
  header: string | null,
  size: number,
): { start: number; end: number } | "unsatisfiable" | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  const [first, last] = [match?.[1] ?? "", match?.[2] ?? ""];
  if (!match || (first === "" && last === "")) return null;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return null;
  return start < size ? { start, end } : "unsatisfiable";
}
