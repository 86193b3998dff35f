import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { run } from "../deploy/run.ts";
import { NONCE } from "../src/server/built-file.ts";
import { MANIFEST, type SiteManifest } from "../src/server/endpoints/docs.ts";

/*
 * Builds the documents into static files: `npm run site`. Rspress makes the pages, a Markdown copy of each page, and
 * the search index. This script then writes the interface's page and the list of files for the gateway. `--base /x/
 * --out DIR` builds for another host.
 */

const ROOT = resolve(import.meta.dir, "..");
const MODULES = join(import.meta.dir, "node_modules");
const SCALAR = join(MODULES, "@scalar/api-reference");
/** Path under which the gateway serves the site. */
const OWN_BASE = "/docs/";
/** Smaller files gain nothing from compression. */
const MIN_COMPRESSED_BYTES = 512;

/** Files of the interface's page, by the name of their source in `site/api`. */
const API_FILES = {
  "index.html": "api.html",
  "start.js": "api/start.js",
  "theme.js": "api/theme.js",
  "style.css": "api/style.css",
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".yaml": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".png": "image/png",
};

async function build(base: string, out: string): Promise<void> {
  const unfinished = `${out}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  const environment = { NODE_ENV: "production", SITE_BASE: base, SITE_OUT: unfinished };
  await run(["node", "node_modules/@rspress/core/bin/rspress.js", "build"], import.meta.dir, environment);
  await writeApiPage(base, unfinished);
  await writeManifest(unfinished);
  await rm(out, { recursive: true, force: true });
  await rename(unfinished, out);
}

/**
 * Writes the interface's page and the library that renders the page; for another host, also the OpenAPI document. The
 * library loads its parts by relative names.
 */
async function writeApiPage(base: string, out: string): Promise<void> {
  const { version } = await Bun.file(join(SCALAR, "package.json")).json();
  const library = `static/scalar-${version}`;
  const isPart = (path: string) => !path.endsWith(".map") && !/standalone\.js$|AgentScalar/.test(path);
  await cp(join(SCALAR, "dist/browser"), join(out, library), { recursive: true, filter: isPart });
  const values = {
    SITE_BASE: base,
    SITE_LIBRARY: `${base}${library}/standalone.esm.js`,
    // On another host, the examples call a gateway on the reader's machine.
    SITE_ADDRESS: base === OWN_BASE ? "/" : "http://127.0.0.1:8080",
    SITE_OPENAPI: base === OWN_BASE ? "/openapi.json" : `${base}openapi.json`,
  };
  const fill = (text: string) =>
    text.replaceAll(/SITE_[A-Z]+/g, (name) => values[name as keyof typeof values]);
  for (const [from, to] of Object.entries(API_FILES)) {
    await mkdir(dirname(join(out, to)), { recursive: true });
    await writeFile(join(out, to), fill(await readFile(join(import.meta.dir, "api", from), "utf8")));
  }
  if (base !== OWN_BASE) await writeFile(join(out, "openapi.json"), await openApi());
}

/** Returns the OpenAPI document that a gateway with the default settings serves. */
async function openApi(): Promise<string> {
  const { allRoutes } = await import("../src/server/index.ts");
  const { openApiDocument } = await import("../src/server/openapi/document.ts");
  const parts = { core: {}, blobs: {}, server: {}, admin: {}, identity: null };
  return JSON.stringify(openApiDocument(allRoutes(parts as unknown as Parameters<typeof allRoutes>[0])));
}

/** Compresses all files except small files and pictures other than SVG. Writes the list of all files. */
async function writeManifest(out: string): Promise<void> {
  const files: SiteManifest["files"] = {};
  const scripts = new Set<string>();
  const styles = new Set<string>();
  const entries = await readdir(out, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(out.length + 1);
    const content = await readFile(path);
    const type = TYPES[extname(name)];
    if (type === undefined) throw new Error(`${name} has no content type`);
    const isCompressed = !/^image\/(?!svg)/.test(type) && content.length >= MIN_COMPRESSED_BYTES;
    if (isCompressed) await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
    const hasNonce = name.endsWith(".html") && content.includes(NONCE);
    files[name] = { type, hash: sha256(content).slice(0, 16), isCompressed, hasNonce };
    if (name.endsWith(".html")) collectInline(content.toString(), scripts, styles);
  }
  const sources = (texts: Set<string>) => [...texts].map((text) => `'sha256-${sha256(text)}'`);
  const manifest: SiteManifest = { files, scripts: sources(scripts), styles: sources(styles) };
  await writeFile(join(out, MANIFEST), JSON.stringify(manifest));
}

/**
 * Collects the inline scripts, styles and style attributes of a page. The content security policy lists their hashes.
 */
function collectInline(page: string, scripts: Set<string>, styles: Set<string>): void {
  for (const [, text = ""] of page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g))
    scripts.add(text);
  for (const [, text = ""] of page.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)) styles.add(text);
  for (const [, text = ""] of page.matchAll(/<[^>]*\sstyle="([^"]*)"/g)) styles.add(unescaped(text));
}

function unescaped(attribute: string): string {
  const characters: Record<string, string> = {
    "&quot;": '"',
    "&#x27;": "'",
    "&lt;": "<",
    "&gt;": ">",
    "&amp;": "&",
  };
  return attribute.replaceAll(/&[#\w]+;/g, (entity) => characters[entity] ?? entity);
}

const sha256 = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("base64");

const { values } = parseArgs({
  options: {
    base: { type: "string", default: OWN_BASE },
    out: { type: "string", default: join(ROOT, "dist/docs") },
  },
});
if (!existsSync(MODULES)) {
  process.stderr.write("The site's packages are not installed: run npm ci --prefix site\n");
  process.exit(1);
}
await build(values.base, resolve(values.out));
