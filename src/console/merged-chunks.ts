import { basename } from "node:path";

/** Returns the address of a file of the page. */
export const addressOf = (name: string): string => `/console/assets/${name}`;

/**
 * Merges the entry's chunk with all chunks that it imports statically. Returns the name of the merged chunk, and the
 * texts of all chunks by name. Merging is needed because the bundler makes a chunk of each set of modules that the same
 * pages share, and over HTTP/1.1 a browser requests only six files at a time.
 */
export async function mergeFirstChunks(
  chunks: ReadonlyMap<string, string>,
  { outputs }: Bun.BuildMetafile,
  entry: string,
): Promise<{ first: string; texts: Map<string, string> }> {
  const imports = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output.imports]));
  const merged = new Set([entry]);
  for (const name of merged)
    for (const { path, kind } of imports.get(name) ?? [])
      if (kind !== "dynamic-import") merged.add(basename(path));
  requireUniqueExports(outputs, merged);
  const first = await bundleChunks(chunks, merged);
  // Browsers keep a chunk for good, so its name must change with the names of the chunks that it imports.
  const suffix = first.name.slice(first.name.lastIndexOf("-"));
  const named = (name: string) => (merged.has(name) ? first.name : name.replace(/\.js$/, suffix));
  const renamed = (text: string) =>
    text.replace(/(?<=["'`]\/console\/assets\/)[\w-]+\.js(?=["'`])/g, (name) => named(name));
  const texts = new Map([[first.name, renamed(first.text)]]);
  for (const [name, text] of chunks) if (!merged.has(name)) texts.set(named(name), renamed(text));
  return { first: first.name, texts };
}

/** Throws when two chunks export the same name. The bundler makes the names of its chunks' exports unique. */
function requireUniqueExports(outputs: Bun.BuildMetafile["outputs"], names: ReadonlySet<string>): void {
  const exported = Object.entries(outputs).flatMap(([path, { exports }]) =>
    names.has(basename(path)) ? exports : [],
  );
  if (new Set(exported).size !== exported.length)
    throw new Error("two chunks of the first page export the same name");
}

async function bundleChunks(chunks: ReadonlyMap<string, string>, names: ReadonlySet<string>) {
  const built = await Bun.build({
    entrypoints: ["first"],
    target: "browser",
    minify: true,
    naming: "[name]-[hash].[ext]",
    plugins: [
      {
        name: "chunks",
        setup(build) {
          build.onResolve({ filter: /^first$/ }, ({ path }) => ({ path, namespace: "chunk" }));
          build.onResolve({ filter: /^\/console\/assets\// }, ({ path }) =>
            names.has(basename(path))
              ? { path: basename(path), namespace: "chunk" }
              : { path, external: true },
          );
          build.onLoad({ filter: /.*/, namespace: "chunk" }, ({ path }) => ({
            contents:
              chunks.get(path) ?? [...names].map((name) => `export * from "${addressOf(name)}";`).join("\n"),
            loader: "js",
          }));
        },
      },
    ],
  });
  const [output] = built.outputs;
  if (!output) throw new AggregateError(built.logs, "the chunks of the first page could not be merged");
  return { name: basename(output.path), text: await output.text() };
}
