import { GatewayError } from "../../domain/gateway-error.ts";
import { sleep } from "../../lib/waiting.ts";
import type { HttpExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";

/** The files of the console's page. */
export interface ConsoleFiles {
  /** Resolves once the files are built; to false where the build failed. */
  isReady(): Promise<boolean>;
  /** Returns the page; `NONCE` in it must be replaced for each response. */
  page(): Promise<string>;
  /** Returns a file that the page loads; null for an unknown name. */
  file(name: string, acceptsGzip: boolean): Promise<ConsoleFile | null>;
}

interface ConsoleFile {
  bytes: Blob;
  encoding?: "gzip";
  type: string;
}

/** Placeholder in the page for the nonce that its component library gives to its few style elements. */
const NONCE = "nonce-of-this-response";

/** Names of assets have a hash of their content. */
const FOREVER = "public, max-age=31536000, immutable";
/** Time for which a browser's request waits for a running build. */
const PATIENCE_MS = 3_000;
const RETRY_SECONDS = 2;

/** Routes of the console: one page for every address below `/console`, and its files. */
export function consoleRoutes(files: ConsoleFiles): HttpRoute[] {
  const route = (path: string, handle: (exchange: HttpExchange) => Promise<Response>): HttpRoute => ({
    method: "GET",
    path,
    name: "console",
    family: "images",
    auth: "public",
    because: "the page shows nothing before somebody signs in",
    handle,
  });
  const page = (exchange: HttpExchange) => sendPage(files, exchange);
  return [
    route("/console", page),
    route("/console/", page),
    route("/console/{page}", page),
    route("/console/assets/{name}", (exchange) => sendFile(files, exchange)),
  ];
}

async function sendPage(files: ConsoleFiles, { requestId }: HttpExchange): Promise<Response> {
  const isReady = await Promise.race([files.isReady(), sleep(PATIENCE_MS).then(() => "later" as const)]);
  if (isReady === "later")
    return notice(requestId, "The console is being prepared. This page opens it in a moment.", true);
  if (!isReady)
    return notice(
      requestId,
      "The console has not been built, and building it failed here: the reason is in the log. Run <code>npm run build</code> in the folder of the program; this page then opens it.",
      false,
    );
  const nonce = crypto.randomUUID();
  return new Response((await files.page()).replaceAll(NONCE, nonce), {
    headers: pageHeaders(requestId, `'self' 'nonce-${nonce}'`),
  });
}

/** Returns a page in place of the console's; it reloads itself where waiting helps. */
function notice(requestId: string, sentence: string, isSoon: boolean): Response {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width"><title>Console</title><p>${sentence}</p></html>`;
  const again = isSoon && { "retry-after": String(RETRY_SECONDS), refresh: String(RETRY_SECONDS) };
  return new Response(page, { status: 503, headers: { ...pageHeaders(requestId, "'none'"), ...again } });
}

function pageHeaders(requestId: string, styles: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ];
  return {
    ...baseHeaders(requestId),
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
}

async function sendFile(
  files: ConsoleFiles,
  { request, requestId, parameter }: HttpExchange,
): Promise<Response> {
  const acceptsGzip = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
  const file = await files.file(parameter, acceptsGzip);
  if (!file) throw new GatewayError("not_found", "There is nothing at this path.");
  return new Response(file.bytes, {
    headers: {
      ...baseHeaders(requestId),
      "content-type": file.type,
      "cache-control": FOREVER,
      vary: "accept-encoding",
      ...(file.encoding && { "content-encoding": file.encoding }),
    },
  });
}
