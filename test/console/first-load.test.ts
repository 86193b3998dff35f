import { expect, test } from "bun:test";
import { join } from "node:path";
import { DIRECTORY, readManifest, versionOfSources, type PageManifest } from "../../src/console/manifest.ts";

const MAX_BYTES = 250 * 1000;
const MAX_FONT_BYTES = 50 * 1000;
const BUILD = new URL("../../src/console/build.ts", import.meta.url).pathname;

test("the first page, one language and all that they need are at most 250 kB compressed", async () => {
  const manifest = await builtManifest();
  const shown = ["main.tsx", "index.html", "areas/overview/index.tsx", "texts/zh/first.ts"];
  const names = new Set(
    Object.entries(manifest.files)
      .filter(([name, { source }]) => source !== null && (shown.includes(source) || name === manifest.page))
      .flatMap(([name]) => [name, ...needsOf(manifest, name)]),
  );
  const sources = new Set([...names].map((name) => manifest.files[name]?.source));
  for (const source of ["index.html", "areas/overview/index.tsx", "texts/zh/first.ts"])
    expect(sources).toContain(source);
  expect([...names].some((name) => name.endsWith(".css"))).toBe(true);
  const bytes = [...names].reduce((sum, name) => sum + (manifest.files[name]?.compressed ?? 0), 0);
  console.info(`first load: ${Math.round(bytes / 1000)} kB compressed in ${names.size} files`);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

test("the page loads one font ahead, of at most 50 kB, and its style sheet uses the same file", async () => {
  const { page, files } = await builtManifest();
  const fonts = Object.keys(files).filter((name) => files[name]?.type === "font/woff2");
  expect(fonts).toHaveLength(1);
  const [font = ""] = fonts;
  expect(files[font]?.bytes).toBeLessThanOrEqual(MAX_FONT_BYTES);
  const folder = join(DIRECTORY, await versionOfSources());
  const styles = Object.keys(files).filter((name) => name.endsWith(".css"));
  for (const name of [page, ...styles])
    expect(await Bun.file(join(folder, name)).text()).toContain(`/console/assets/${font}`);
});

async function builtManifest(): Promise<PageManifest> {
  const version = await versionOfSources();
  if (!(await readManifest(version))) {
    const child = Bun.spawn([process.execPath, BUILD], {
      env: { NODE_ENV: "production" },
      stderr: "inherit",
    });
    expect(await child.exited).toBe(0);
  }
  return (await readManifest(version))!;
}

/** Returns all files that a file imports before it runs, and the files that those import. */
function needsOf(manifest: PageManifest, name: string, known = new Set<string>()): Set<string> {
  for (const needed of manifest.needs[name] ?? []) {
    if (known.has(needed)) continue;
    known.add(needed);
    needsOf(manifest, needed, known);
  }
  return known;
}
