import { join } from "node:path";
import { ownValue } from "../../lib/json.ts";
import { IS_BUILT, programFolder } from "../../lib/program-files.ts";
import {
  acceptsGzip,
  FOREVER,
  notice,
  pageHeaders,
  sendBuiltFile,
  sendPageWithNonce,
} from "../built-file.ts";
import type { HttpExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";

/** The content of the file `MANIFEST`, which lists the files that `npm run site` has built. */
export interface SiteManifest {
  files: Record<string, SiteFile>;
  /** Hashes of the scripts and style attributes in the pages, as sources for the content security policy. */
  scripts: string[];
  styles: string[];
}

interface SiteFile {
  /** Media type. */
  type: string;
  /** Hash of the file's content. */
  hash: string;
  /** True when the folder also has a compressed file of the same name with the ending `.gz`. */
  isCompressed: boolean;
  /** True for a page whose styles need a nonce. */
  hasNonce: boolean;
}

export const MANIFEST = "site.json";
const BASE = "/docs/";

/** Returns the routes of the documents: a file for each known address, a "not found" page for all others. */
export function docsRoutes(folder: string = programFolder("dist/docs")): HttpRoute[] {
  const readManifest = manifestReader(folder);
  const route = (path: string, handle: (exchange: HttpExchange) => Promise<Response>): HttpRoute => ({
    method: "GET",
    path,
    name: "docs",
    family: "images",
    auth: "public",
    because: "the documents are public",
    handle,
  });
  const page = async (exchange: HttpExchange): Promise<Response> => {
    const manifest = await readManifest();
    return manifest ? sendNamed(folder, manifest, exchange) : notice(exchange, "Documents", NOT_BUILT);
  };
  return [
    route("/docs", async (exchange) => redirect(exchange, "")),
    route("/docs/", page),
    route("/docs/{page}", page),
  ];
}

const NOT_BUILT =
  "The documents have not been built. Run <code>npm ci --prefix site && npm run site</code> in the folder of the program; this page then shows them.";

/** Returns the route of the OpenAPI document, which the page `/docs/api` shows. */
export function documentRoute(routes: readonly HttpRoute[]): HttpRoute {
  let text: string | null = null;
  // The schemas are loaded when the document is first requested, because nothing else needs them.
  const read = async (): Promise<string> => {
    const { openApiDocument } = await import("../openapi/document.ts");
    return (text ??= JSON.stringify(openApiDocument([...routes, own])));
  };
  const own: HttpRoute = {
    method: "GET",
    path: "/openapi.json",
    name: "openapi",
    family: "images",
    auth: "public",
    because: "its content is public",
    handle: async ({ requestId }: HttpExchange) =>
      new Response(await read(), {
        headers: {
          ...baseHeaders(requestId),
          "content-type": "application/json",
          // The document may change with each version of the program, so browsers must revalidate their copy.
          "cache-control": "no-cache",
        },
      }),
  };
  return own;
}

/** Returns a function that reads the manifest once for each build. The function resolves to null without a manifest. */
function manifestReader(folder: string): () => Promise<SiteManifest | null> {
  let known: { at: number; manifest: Promise<SiteManifest> } | null = null;
  return async () => {
    const file = Bun.file(join(folder, MANIFEST));
    if (!(await file.exists())) return null;
    const at = IS_BUILT ? 0 : file.lastModified;
    if (known?.at !== at) known = { at, manifest: file.json() };
    return known.manifest;
  };
}

/** Sends the file or page of an address. Only files in the manifest are read, so no address can leave the folder. */
async function sendNamed(folder: string, manifest: SiteManifest, exchange: HttpExchange): Promise<Response> {
  const { parameter } = exchange;
  const isKnown = (name: string) => ownValue(manifest.files, name) !== undefined;
  if (parameter.endsWith(".html") && isKnown(parameter))
    return redirect(exchange, parameter.replace(/(?:^index|(?<=\/)index)?\.html$/, ""));
  const names = [parameter, `${parameter}.html`];
  const folderPage = parameter === "" || parameter.endsWith("/") ? `${parameter}index.html` : null;
  const found = folderPage === null ? names.find(isKnown) : isKnown(folderPage) ? folderPage : undefined;
  if (found !== undefined) return sendFile(folder, manifest, exchange, found);
  const trimmed = parameter.endsWith("/") ? parameter.slice(0, -1) : parameter;
  if (trimmed !== parameter && isKnown(`${trimmed}.html`)) return redirect(exchange, trimmed);
  if (trimmed === parameter && isKnown(`${parameter}/index.html`)) return redirect(exchange, `${parameter}/`);
  return sendFile(folder, manifest, exchange, "404.html", 404);
}

/** Redirects a browser to the canonical address of a page. */
function redirect({ requestId }: HttpExchange, name: string): Response {
  const headers = { ...baseHeaders(requestId), location: BASE + encodeURI(name) };
  return new Response(null, { status: 308, headers });
}

async function sendFile(
  folder: string,
  { files, scripts, styles }: SiteManifest,
  exchange: HttpExchange,
  name: string,
  status = 200,
): Promise<Response> {
  const file = files[name];
  if (!file) return redirect(exchange, "");
  const path = join(folder, name);
  if (file.hasNonce)
    return sendPageWithNonce(exchange, await Bun.file(path).text(), { styleAttributes: "'unsafe-inline'" });
  const tag = `W/"${file.hash}"`;
  const headers = {
    // A page changes with the version of the program, so browsers must ask each time if their copy is current.
    "cache-control": name.startsWith("static/") ? FOREVER : "no-cache",
    etag: tag,
    ...(file.type.startsWith("text/html") &&
      pageHeaders({
        scripts: ["'self'", ...scripts].join(" "),
        styles: ["'self'", "'unsafe-hashes'", ...styles].join(" "),
      })),
  };
  if (exchange.request.headers.get("if-none-match")?.includes(tag))
    return new Response(null, { status: 304, headers: { ...baseHeaders(exchange.requestId), ...headers } });
  const built =
    file.isCompressed && acceptsGzip(exchange.request)
      ? { bytes: Bun.file(`${path}.gz`), encoding: "gzip" as const, type: file.type }
      : { bytes: Bun.file(path), type: file.type };
  return sendBuiltFile(exchange, built, headers, status);
}
