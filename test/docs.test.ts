import { expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { PROVIDERS } from "../src/providers/registry.ts";
import { METRICS } from "../src/telemetry/metrics.table.ts";

/* Compares lists in the documents with lists in the code. */
const ROOT = resolve(import.meta.dir, "..");
const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();

const [architecture, environment, logFields, providers] = await Promise.all([
  read("ARCHITECTURE.md"),
  read("docs/reference/environment.md"),
  read("docs/reference/log-fields.md"),
  read("docs/reference/providers.md"),
]);

test("every file and folder of the code that ARCHITECTURE.md names is there", async () => {
  const tracked = Array.from(new Bun.Glob("{src,test,docs,catalogue,bench}/**/*").scanSync(ROOT));
  const tails = new Set(
    tracked.flatMap((path) => {
      const parts = path.replace(/\.tsx?$/, "").split("/");
      return parts.flatMap((_, start) =>
        parts.slice(start).map((_, length) => parts.slice(start, start + length + 1).join("/")),
      );
    }),
  );
  const named = [...architecture.matchAll(/`([a-z][\w.-]*\/[\w./-]+)`/g)].map(([, name = ""]) =>
    name.replace(/\/$/, "").replace(/\.tsx?$/, ""),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !tails.has(name))).toEqual([]);
});

test("every file of the code that the pages for contributors name is there", async () => {
  const tracked = Array.from(new Bun.Glob("{src,test,bench,site,deploy}/**/*.{ts,tsx}").scanSync(ROOT));
  const pages = Array.from(new Bun.Glob("docs/contribute/*.md").scanSync(ROOT));
  const named = await Promise.all(
    pages.map(async (page) =>
      [...(await read(page)).matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = ""]) => `/${name}`),
    ),
  );
  expect(named.flat().length).toBeGreaterThan(20);
  expect(named.flat().filter((name) => !tracked.some((path) => `/${path}`.endsWith(name)))).toEqual([]);
});

test("the table of floors is the architecture test's", async () => {
  const body = /const FLOORS[^{]*\{([^}]*)\}/.exec(await read("test/architecture.test.ts"))?.[1] ?? "";
  const enforced = [...body.matchAll(/"?([\w.]+)"?: (\d)/g)].map(([, folder, floor]) => `${floor} ${folder}`);
  const rows = [...architecture.matchAll(/^\| (\d) +\| (.+?) +\|/gm)];
  const told = rows.flatMap(([, floor, folders = ""]) =>
    [...folders.matchAll(/`([^`]+)`/g)].map(([, folder]) => `${floor} ${folder}`),
  );
  expect(enforced.length).toBeGreaterThan(10);
  expect(told.toSorted()).toEqual(enforced.toSorted());
});

test("every path is described", async () => {
  // Leaves out the paths of administration, which the OpenAPI document lists.
  const paths = await listed("src/server/endpoints/!(admin*).ts", /(?:path: |\[|, )"(\/[\w/.{}-]+)"/g);
  expect(paths.length).toBeGreaterThan(8);
  const files = await Array.fromAsync(new Bun.Glob("docs/{build,connect}/*.md").scan(ROOT));
  const pages = (await Promise.all(files.map(read))).join("\n");
  expect(paths.filter((path) => !pages.includes(path.replace("{call}", "{model}")))).toEqual([]);
});

test("every declared metric is measured", async () => {
  const files = "src/{run,telemetry}/**/!(metrics.table|*.test).ts";
  const measured = await listed(files, /"((?:gateway|process)_[a-z_]+)"/g);
  expect(Object.keys(METRICS).filter((name) => !measured.includes(name))).toEqual([]);
});

test("the table of what is stored names every table of the database", async () => {
  const page = await read("docs/money-and-privacy/data-stored.md");
  const names = await listed("src/storage/migrations/*.sql", /^CREATE TABLE (\w+)/gm);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("every field of the log line is described", async () => {
  const source = await read("src/telemetry/log.ts");
  const body =
    /function line\([\s\S]*?const fields: LogFields = \{([\s\S]*?)\n {2}\};/.exec(source)?.[1] ?? "";
  const fields = [...body.matchAll(/^ {4}(\w+):/gm)].map(([, field]) => field ?? "");
  expect(fields.length).toBeGreaterThan(10);
  expect(fields.filter((field) => !logFields.includes(`\`${field}\``))).toEqual([]);
});

test("every environment variable is described", async () => {
  const names = await listed("src/config/environment.ts", /(?:variable: |env\[)"([A-Z_]+)"/g);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !environment.includes(`\`${name}\``))).toEqual([]);
});

test("every provider is described, and every variable that switches one on", async () => {
  expect([...PROVIDERS.keys()].filter((name) => !providers.includes(`\`${name}\``))).toEqual([]);
  const variables = await listed("catalogue/*.yaml", /credential_env: ([A-Z_]+)/g);
  expect(variables.length).toBeGreaterThan(5);
  expect(variables.filter((name) => !providers.includes(`\`${name}\``))).toEqual([]);
  expect(variables.filter((name) => !environment.includes(`\`${name}\``))).toEqual([]);
});

/** Returns each text that the pattern's group matches in the files, without repetitions. Skips tests. Skips tests. */
async function listed(glob: string, pattern: RegExp): Promise<string[]> {
  const files = await Array.fromAsync(new Bun.Glob(glob).scan(ROOT));
  const texts = await Promise.all(files.filter((file) => !file.endsWith(".test.ts")).map(read));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found]) => found ?? "")))];
}
