import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import { DIRECTORY, MANIFEST, versionOfSources, type Manifest } from "./manifest.ts";

/**
 * Bundles the console's page into the build folder. It is run by `npm run build`, and by the first process of a gateway
 * that finds no build of the present sources.
 */
async function build(): Promise<void> {
  const version = await versionOfSources();
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, "app/index.html")],
    target: "browser",
    minify: true,
    splitting: true,
    sourcemap: "none",
    publicPath: "/console/assets/",
    plugins: [tailwind],
    naming: { chunk: "[name]-[hash].[ext]", entry: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  if (!result.success) throw new AggregateError(result.logs, "the console could not be bundled");
  const unfinished = `${DIRECTORY}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const manifest: Manifest = { version, page: "", files: {} };
  for (const output of result.outputs) {
    const name = basename(output.path);
    const bytes = new Uint8Array(await output.arrayBuffer());
    const compressed = gzipSync(bytes, { level: 9 });
    await writeFile(join(unfinished, name), bytes);
    await writeFile(join(unfinished, `${name}.gz`), compressed);
    if (name.endsWith(".html")) manifest.page = name;
    const tag = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
    manifest.files[name] = { type: output.type, bytes: bytes.length, compressed: compressed.length, tag };
  }
  await writeFile(join(unfinished, MANIFEST), JSON.stringify(manifest));
  await rm(DIRECTORY, { recursive: true, force: true });
  await rename(unfinished, DIRECTORY);
}

await build();
