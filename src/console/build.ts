import tailwind from "bun-plugin-tailwind";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { DIRECTORY, readManifest, versionOfSources, writeManifest, type PageManifest } from "./manifest.ts";

/** Builds that are kept, because pages that are open go on loading files of theirs. */
const MAX_KEPT = 3;

/**
 * Bundles the console's page into the build folder. It is run by `npm run build`, and by a gateway that finds no build
 * of the present sources; several may do so at once.
 */
async function build(): Promise<void> {
  const version = await versionOfSources();
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, "index.html")],
    target: "browser",
    minify: true,
    splitting: true,
    sourcemap: "none",
    metafile: true,
    publicPath: "/console/assets/",
    plugins: [tailwind],
    naming: { chunk: "[name]-[hash].[ext]", entry: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  if (!result.success) throw new AggregateError(result.logs, "the console could not be bundled");
  const unfinished = join(DIRECTORY, `unfinished-${process.pid}`);
  await mkdir(unfinished, { recursive: true });
  await writeManifest(unfinished, await writeFiles(result, unfinished));
  await rm(join(DIRECTORY, version), { recursive: true, force: true });
  try {
    await rename(unfinished, join(DIRECTORY, version));
  } catch (error) {
    await rm(unfinished, { recursive: true });
    // Another process has built the same meanwhile.
    if (!(await readManifest(version))) throw error;
  }
  await removeOldBuilds();
}

async function writeFiles({ outputs, metafile }: Bun.BuildOutput, folder: string): Promise<PageManifest> {
  const manifest: PageManifest = { page: "", files: {}, needs: {} };
  for (const output of outputs) {
    const name = basename(output.path);
    const bytes = new Uint8Array(await output.arrayBuffer());
    const compressed = gzipSync(bytes, { level: 9 });
    await writeFile(join(folder, name), bytes);
    await writeFile(join(folder, `${name}.gz`), compressed);
    if (name.endsWith(".html")) manifest.page = name;
    manifest.files[name] = {
      type: output.type,
      bytes: bytes.length,
      compressed: compressed.length,
      source: null,
    };
  }
  for (const [path, { entryPoint, imports }] of Object.entries(metafile?.outputs ?? {})) {
    const file = manifest.files[basename(path)];
    if (file) file.source = entryPoint?.replace(/^.*src\/console\//, "") ?? null;
    manifest.needs[basename(path)] = imports
      .filter(({ kind }) => kind !== "dynamic-import")
      .map(({ path }) => basename(path));
  }
  return manifest;
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
