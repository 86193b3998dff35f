import { join } from "node:path";
import { DIRECTORY, MANIFEST, versionOfSources, type Manifest } from "./manifest.ts";

/** The files of the bundled page; the first one asked for has the page bundled where it is not yet. */
export function openConsole(onProblem: (error: unknown) => void) {
  let manifest: Promise<Manifest> | null = null;
  const ready = (): Promise<Manifest> => {
    manifest ??= currentManifest().catch((error: unknown) => {
      manifest = null;
      onProblem(error);
      throw error;
    });
    return manifest;
  };
  return {
    /** A file by its name, or with null the page itself; null where there is none. */
    async file(name: string | null, acceptsGzip: boolean) {
      const { page, files } = await ready();
      const wanted = name ?? page;
      const known = Object.hasOwn(files, wanted) ? files[wanted] : undefined;
      if (!known) return null;
      const path = join(DIRECTORY, wanted);
      const { type, tag } = known;
      return acceptsGzip
        ? { bytes: Bun.file(`${path}.gz`), encoding: "gzip" as const, type, tag }
        : { bytes: Bun.file(path), type, tag };
    },
  };
}

/** The manifest of a build of the present sources, which is made first where there is none. */
async function currentManifest(): Promise<Manifest> {
  const version = await versionOfSources();
  const known = await readManifest();
  if (known?.version === version) return known;
  // A process of its own, because bundling takes memory and time that requests would miss.
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "build.ts")], {
    stderr: "pipe",
    env: { NODE_ENV: "production" },
  });
  const [code, output] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  const built = await readManifest();
  if (code !== 0 || !built) throw new Error(`the bundler ended with ${code}: ${output.slice(0, 2000)}`);
  return built;
}

async function readManifest(): Promise<Manifest | null> {
  const file = Bun.file(join(DIRECTORY, MANIFEST));
  return (await file.exists()) ? await file.json() : null;
}
