import { join } from "node:path";
import { GatewayError } from "../../domain/gateway-error.ts";
import { docsPage } from "../docs-page/page.ts";
import type { HttpExchange } from "../http-exchange.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { ownValue } from "../../lib/own-value.ts";
import { programFolder } from "../../lib/program-files.ts";

/** The page may load its own two files and nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const FILES: Readonly<Record<string, string>> = {
  "style.css": "text/css; charset=utf-8",
  "search.js": "text/javascript; charset=utf-8",
};

/** Routes of the description of all routes, as JSON and as a page. */
export function documentRoutes(
  routes: readonly HttpRoute[],
  baseOf: (exchange: HttpExchange) => string,
): HttpRoute[] {
  const common = {
    method: "GET",
    family: "images",
    auth: "public",
    because: "its content is public",
  } as const;
  let document: OpenApiDocument | null = null;
  // Its schemas are loaded at the first use: nothing else needs them.
  const read = async (): Promise<OpenApiDocument> => {
    const { openApiDocument } = await import("../openapi/document.ts");
    return (document ??= openApiDocument([...routes, ...own]));
  };
  const own: HttpRoute[] = [
    {
      ...common,
      path: "/openapi.json",
      name: "openapi",
      handle: async (exchange: HttpExchange) =>
        send(exchange, JSON.stringify(await read()), "application/json"),
    },
    {
      ...common,
      path: "/docs",
      name: "docs",
      handle: async (exchange: HttpExchange) =>
        send(exchange, docsPage(await read(), baseOf(exchange)), "text/html; charset=utf-8"),
    },
    {
      ...common,
      path: "/docs/{file}",
      name: "docs",
      handle: (exchange: HttpExchange) => file(exchange),
    },
  ];
  return own;
}

function file(exchange: HttpExchange): Response {
  const name = exchange.parameter;
  const type = ownValue(FILES, name);
  if (type === undefined) throw new GatewayError("not_found", "There is nothing at this path.");
  return send(exchange, Bun.file(join(programFolder("src/server/docs-page"), name)), type);
}

/** Sends content that may change with each version of the program, so browsers must revalidate it. */
function send({ requestId }: HttpExchange, body: string | Blob, type: string): Response {
  const headers = {
    ...baseHeaders(requestId),
    "content-type": type,
    "cache-control": "no-cache",
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
  };
  return new Response(body, { headers });
}
