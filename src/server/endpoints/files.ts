import { GatewayError } from "../../domain/gateway-error.ts";
import type { DeliverySettings } from "../../gateway/delivery/images.ts";
import { baseHeaders } from "../respond.ts";
import { queryOf, type HttpExchange } from "../http-exchange.ts";
import type { Route } from "../routes.ts";

const TYPES: Readonly<Record<string, string>> = { png: "image/png", jpg: "image/jpeg", webp: "image/webp" };

/** Delivered pictures by signed link. */
export function fileRoutes(settings: DeliverySettings): Route[] {
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
  { blobs, links }: DeliverySettings,
  { request, parameter, requestId }: HttpExchange,
): Promise<Response> {
  const query = queryOf(request.url);
  const verdict = links.check(parameter, query.get("exp"), query.get("sig"));
  const blob = verdict === "valid" ? await blobs.get(parameter) : null;
  if (!blob) {
    const message =
      verdict === "invalid" ? "This link is not valid." : "This link has expired; make the picture again.";
    throw new GatewayError("not_found", message);
  }
  const headers = {
    ...baseHeaders(requestId),
    "content-type": TYPES[parameter.slice(parameter.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    "content-disposition": `inline; filename="${parameter}"`,
    "cache-control": "private, max-age=3600, immutable",
    "accept-ranges": "bytes",
    // A file that is both a picture and a page must not run as a page.
    "content-security-policy": "default-src 'none'; sandbox",
  };
  const range = readRange(request.headers.get("range"), blob.size);
  if (range === "unsatisfiable") {
    return new Response(null, {
      status: 416,
      headers: { ...headers, "content-range": `bytes */${blob.size}` },
    });
  }
  const body = range ? blob.slice(range.start, range.end) : blob;
  const isHead = request.method === "HEAD";
  const status = range ? 206 : 200;
  const lengths: Record<string, string> = { "content-length": String(body.size) };
  if (range) lengths["content-range"] = `bytes ${range.start}-${range.end - 1}/${blob.size}`;
  return new Response(isHead ? null : body, { status, headers: { ...headers, ...lengths } });
}

/** A single byte range, end exclusive; null for none, or one of an unsupported form, which is ignored (RFC 9110). */
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
