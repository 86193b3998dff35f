import { join } from "node:path";
import { ownValue } from "../lib/json.ts";
import { DIRECTORY, readManifest, shippedVersion, versionOfSources, type PageManifest } from "./manifest.ts";

/** Time from the start until the gateway looks for a build. Starting to serve is more urgent than making a build. */
const WARM_UP_MS = 5_000;
const RETRY_MS = 30_000;

interface Build {
  manifest: PageManifest;
  folder: string;
}

/**
 * Returns the files of the bundled page. If there is no build of the current sources, a build is made in the
 * background: soon after the start, or at the first request if the request comes earlier.
 */
export function openConsole(onProblem: (error: unknown) => void) {
  let build: Promise<Build | null> | null = null;
  const find = (): Promise<Build | null> => {
    build ??= findBuild().catch((error: unknown) => {
      onProblem(error);
      setTimeout(() => (build = null), RETRY_MS).unref();
      return null;
    });
    return build;
  };
  setTimeout(find, WARM_UP_MS).unref();
  return {
    /** True when the files exist; false when they could not be built. */
    isReady: async () => (await find()) !== null,
    /** Returns the page, and the hash of the script inside it; empty texts when the page could not be built. */
    async page(): Promise<{ html: string; script: string }> {
      const found = await find();
      if (!found) return { html: "", script: "" };
      const { page, script } = found.manifest;
      return { html: await Bun.file(join(found.folder, page)).text(), script };
    },
    /** Returns a file that the page loads; null for an unknown name, and when the page could not be built. */
    async file(name: string, acceptsGzip: boolean) {
      const found = await find();
      const known = found ? ownValue(found.manifest.files, name) : undefined;
      if (!found || !known) return null;
      const path = join(found.folder, name);
      return acceptsGzip
        ? { bytes: Bun.file(`${path}.gz`), encoding: "gzip" as const, type: known.type }
        : { bytes: Bun.file(path), type: known.type };
    },
  };
}

/** Returns the shipped build, or else the build of the current sources, after making that build if necessary. */
async function findBuild(): Promise<Build> {
  const version = (await shippedVersion()) ?? (await versionOfSources());
  const folder = join(DIRECTORY, version);
  const known = await readManifest(version);
  if (known) return { manifest: known, folder };
  // Bundling runs in another process, because it takes memory and time that requests need.
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "build.ts")], {
    env: { NODE_ENV: "production" },
    stdout: "ignore",
    stderr: "pipe",
  });
  const [code, output] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  const built = await readManifest(version);
  if (!built) throw new Error(`the bundler ended with ${code}: ${output.slice(0, 2000)}`);
  return { manifest: built, folder };
}
