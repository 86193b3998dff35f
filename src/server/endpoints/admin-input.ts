import { AdminError } from "../../admin/admin-error.ts";
import type { Operation } from "../../admin/operation.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { type BodyLimits, requireJson, requireLength } from "../entrance/body.ts";
import { queryOf, type HttpExchange } from "../http-exchange.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Returns an operation's input: the path's variable part with the query (GET, DELETE) or the body (other methods). */
export async function readInputOf(
  exchange: HttpExchange,
  { method, path }: Pick<Operation, "method" | "path">,
  limits: BodyLimits,
): Promise<object> {
  const named = /\{([a-zA-Z]+)\}/.exec(path)?.[1];
  const parameter = named === undefined ? {} : { [named]: exchange.parameter };
  if (method === "GET" || method === "DELETE")
    return { ...Object.fromEntries(queryOf(exchange.request.url)), ...parameter };
  return { ...(await readObject(exchange, limits, MAX_BODY_BYTES)), ...parameter };
}

/**
 * Reads a JSON object; an empty body counts as an empty object. A body that is not empty needs the content type of
 * JSON, because pages of other sites can make a browser send other content types or none, unnoticed by the user.
 */
export async function readObject(
  { request }: Pick<HttpExchange, "request">,
  limits: BodyLimits,
  maxBytes: number,
): Promise<object> {
  const type = request.headers.get("content-type");
  requireJson(type);
  requireLength(request, maxBytes);
  const bytes = Buffer.concat(await Array.fromAsync(limits.arriving(request, maxBytes)));
  if (bytes.length === 0) return {};
  if (type === null)
    throw new GatewayError("unsupported_media_type", "Send the body with `Content-Type: application/json`.");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // A body that is not JSON is refused below, like a body that is not an object.
  }
  throw new AdminError(400, null, "the body must be a JSON object");
}
