import tailwind from "bun-plugin-tailwind";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { DIRECTORY, readManifest, versionOfSources, writeManifest, type PageManifest } from "./manifest.ts";
import { addressOf, mergeFirstChunks } from "./merged-chunks.ts";
import { FirstPaint } from "./shell/frame.tsx";

/**
 * Number of builds that are kept. A gateway that was started with earlier sources still serves the build of these
 * sources.
 */
const MAX_KEPT = 3;

/**
 * Bundles the console's page into the build folder. `npm run build` runs this program, and so does a gateway that finds
 * no build of the current sources. Several processes may run the program at the same time.
 */
async function build(): Promise<void> {
  const version = await versionOfSources();
  const fonts: Fonts = new Map();
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, "index.html")],
    target: "browser",
    minify: true,
    splitting: true,
    sourcemap: "none",
    metafile: true,
    publicPath: addressOf(""),
    plugins: [tailwind, keepsFonts(fonts)],
    naming: { chunk: "[name]-[hash].[ext]", entry: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  if (!result.success) throw new AggregateError(result.logs, "the console could not be bundled");
  const unfinished = join(DIRECTORY, `unfinished-${process.pid}`);
  await mkdir(unfinished, { recursive: true });
  await writeManifest(unfinished, await writeFiles(result, fonts, unfinished));
  await rm(join(DIRECTORY, version), { recursive: true, force: true });
  try {
    await rename(unfinished, join(DIRECTORY, version));
  } catch (error) {
    await rm(unfinished, { recursive: true });
    // The error does not matter if another process has made the same build in the meantime.
    if (!(await readManifest(version))) throw error;
  }
  await removeOldBuilds();
}

/** The fonts of the page, by the path from which they are imported. */
type Fonts = Map<string, { name: string; bytes: Buffer }>;

/**
 * Returns a plugin that writes fonts to separate files. Without this plugin, the bundler would put them into the style
 * sheet.
 */
function keepsFonts(fonts: Fonts): Bun.BunPlugin {
  return {
    name: "fonts",
    setup(build) {
      build.onResolve({ filter: /\.woff2$/ }, ({ path, importer }) => {
        const bytes = readFileSync(Bun.resolveSync(path, dirname(importer)));
        const name = `${basename(path, ".woff2")}-${Bun.hash(bytes).toString(36)}.woff2`;
        fonts.set(path, { name, bytes });
        return { path: addressOf(name), external: true };
      });
    },
  };
}

async function writeFiles(
  { outputs, metafile }: Bun.BuildOutput,
  fonts: Fonts,
  folder: string,
): Promise<PageManifest> {
  if (!metafile) throw new Error("the bundler returned no list of its chunks");
  const manifest: PageManifest = { page: "", script: "", files: {} };
  const write = async (name: string, type: string, content: Uint8Array | string) => {
    const bytes = Buffer.from(content);
    const compressed = gzipSync(bytes, { level: 9 });
    await writeFile(join(folder, name), bytes);
    await writeFile(join(folder, `${name}.gz`), compressed);
    manifest.files[name] = { type, bytes: bytes.length, compressed: compressed.length };
  };
  const chunks = new Map<string, string>();
  let page = "";
  for (const output of outputs) {
    const name = basename(output.path);
    if (name.endsWith(".js")) chunks.set(name, await output.text());
    else if (name.endsWith(".html")) [manifest.page, page] = [name, await output.text()];
    else await write(name, output.type, new Uint8Array(await output.arrayBuffer()));
  }
  for (const { name, bytes } of fonts.values()) await write(name, "font/woff2", bytes);
  const [, script = ""] = page.split('<script type="module"', 2);
  const entry = /\/([\w-]+\.js)"/.exec(script)?.[1] ?? "";
  const { first, texts } = await mergeFirstChunks(chunks, metafile, entry);
  for (const [name, text] of texts) await write(name, "text/javascript;charset=utf-8", text);
  const early = await scriptBeforePaint();
  manifest.script = `'sha256-${createHash("sha256").update(early).digest("base64")}'`;
  const html = finishedPage(page.replace(entry, first), fonts, early);
  await write(manifest.page, "text/html;charset=utf-8", html);
  return manifest;
}

async function scriptBeforePaint(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "before-paint.ts")],
    target: "browser",
    format: "iife",
    minify: true,
  });
  return (await outputs[0]?.text()) ?? "";
}

/**
 * Adds the content of the first paint, the script before this content, and the fonts' addresses, which the bundler adds
 * only to the style sheet. Removes the preloads of chunks that are part of the first chunk now.
 */
function finishedPage(page: string, fonts: Fonts, script: string): string {
  let text = page
    .replace(/<link rel="modulepreload"[^>]*>/g, "")
    .replace("<title>", () => `<script>${script}</script><title>`)
    .replace(/(?<=<div id="root"[^>]*>)/, renderToStaticMarkup(createElement(FirstPaint)));
  for (const [path, { name }] of fonts) text = text.replace(path, addressOf(name));
  return text;
}

async function removeOldBuilds(): Promise<void> {
  const names = await readdir(DIRECTORY);
  const builds = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(DIRECTORY, name))).mtimeMs })),
  );
  const old = builds.sort((one, other) => other.at - one.at).slice(MAX_KEPT);
  for (const { name } of old) await rm(join(DIRECTORY, name), { recursive: true, force: true });
}

await build();
