import tailwind from "bun-plugin-tailwind";
import { readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { DIRECTORY, readManifest, versionOfSources, writeManifest, type PageManifest } from "./manifest.ts";

/** Number of builds that are kept. Pages that are still open load files of their own, older build. */
const MAX_KEPT = 3;
/** The address below which the files of the page are. */
const ASSETS = "/console/assets/";

/**
 * Bundles the console's page into the build folder. `npm run build` runs it, and also a gateway that finds no build of
 * the current sources. Several processes may run it at the same time.
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
    publicPath: ASSETS,
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

/** Returns a plugin that writes fonts to separate files. The bundler alone would put them into the style sheet. */
function keepsFonts(fonts: Fonts): Bun.BunPlugin {
  return {
    name: "fonts",
    setup(build) {
      build.onResolve({ filter: /\.woff2$/ }, ({ path, importer }) => {
        const bytes = readFileSync(Bun.resolveSync(path, dirname(importer)));
        const name = `${basename(path, ".woff2")}-${Bun.hash(bytes).toString(36)}.woff2`;
        fonts.set(path, { name, bytes });
        return { path: ASSETS + name, external: true };
      });
    },
  };
}

async function writeFiles(
  { outputs, metafile }: Bun.BuildOutput,
  fonts: Fonts,
  folder: string,
): Promise<PageManifest> {
  const manifest: PageManifest = { page: "", files: {}, needs: {} };
  const write = async (name: string, type: string, bytes: Uint8Array) => {
    const compressed = gzipSync(bytes, { level: 9 });
    await writeFile(join(folder, name), bytes);
    await writeFile(join(folder, `${name}.gz`), compressed);
    manifest.files[name] = { type, bytes: bytes.length, compressed: compressed.length, source: null };
  };
  for (const output of outputs) {
    const name = basename(output.path);
    let bytes = new Uint8Array(await output.arrayBuffer());
    if (name.endsWith(".html")) {
      manifest.page = name;
      bytes = withFonts(bytes, fonts);
    }
    await write(name, output.type, bytes);
  }
  for (const { name, bytes } of fonts.values()) await write(name, "font/woff2", bytes);
  for (const [path, { entryPoint, imports }] of Object.entries(metafile?.outputs ?? {})) {
    const file = manifest.files[basename(path)];
    if (file) file.source = entryPoint?.replace(/^.*src\/console\//, "") ?? null;
    manifest.needs[basename(path)] = imports
      .filter(({ kind }) => kind !== "dynamic-import")
      .map(({ path }) => basename(path));
  }
  return manifest;
}

/** Adds the fonts' addresses to the page, so that it preloads them. The bundler adds them only to the style sheet. */
function withFonts(page: Uint8Array, fonts: Fonts): Uint8Array<ArrayBuffer> {
  let text = new TextDecoder().decode(page);
  for (const [path, { name }] of fonts) text = text.replace(path, ASSETS + name);
  return new TextEncoder().encode(text);
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
