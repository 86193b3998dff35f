import { GatewayError } from "../../domain/gateway-error.ts";
import type { HttpExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";

/** The files of the console's page. */
export interface ConsoleFiles {
  /** A file by its name, or with null the page itself; null where there is none. */
  file(name: string | null, acceptsGzip: boolean): Promise<ConsoleFile | null>;
}

interface ConsoleFile {
  bytes: Blob;
  encoding?: "gzip";
  type: string;
  /** Changes with the content. */
  tag: string;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Names of assets have a hash of their content. */
const FOREVER = "public, max-age=31536000, immutable";

/** The console: one page for every address below `/console`, and its files. */
export function consoleRoutes(files: ConsoleFiles): Route[] {
  const page = (exchange: HttpExchange) => send(files, exchange, null);
  const route = (path: string, handle: (exchange: HttpExchange) => Promise<Response>): Route => ({
    method: "GET",
    path,
    name: "console",
    family: "images",
    auth: "public",
    because: "the page shows nothing before somebody signs in",
    handle,
  });
  return [
    route("/console", page),
    route("/console/{page}", page),
    route("/console/assets/{name}", (exchange) => send(files, exchange, exchange.parameter)),
  ];
}

async function send(
  files: ConsoleFiles,
  { request, requestId }: HttpExchange,
  name: string | null,
): Promise<Response> {
  const acceptsGzip = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
  const file = await files.file(name, acceptsGzip);
  if (!file) throw new GatewayError("not_found", "There is nothing at this path.");
  const headers = {
    ...baseHeaders(requestId),
    "content-type": file.type,
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": name === null ? "no-cache" : FOREVER,
    etag: `"${file.tag}"`,
    vary: "accept-encoding",
    ...(file.encoding && { "content-encoding": file.encoding }),
  };
  if (request.headers.get("if-none-match") === headers.etag)
    return new Response(null, { status: 304, headers });
  return new Response(file.bytes, { headers });
}
