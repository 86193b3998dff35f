import { describe, expect, test } from "bun:test";
import { dirname, join, relative, resolve } from "node:path";
import { stripped } from "./support/stripped-source.ts";

const ROOT = resolve(import.meta.dir, "..");

/** Floor of each folder. A folder may import itself and any folder with a lower number. */
const FLOORS: Readonly<Record<string, number>> = {
  lib: 0,
  domain: 1,
  dialects: 2,
  imaging: 2,
  gateway: 3,
  jobs: 4,
  admin: 4,
  alerts: 4,
  sandbox: 4,
  server: 5,
  console: 5,
  providers: 5,
  storage: 5,
  telemetry: 5,
  config: 5,
  cli: 6,
  run: 7,
  reference: 8,
  ".": 8,
};

/** Code patterns with the only places where they may occur. */
const FENCES: readonly { what: RegExp; where: RegExp; name: string }[] = [
  { name: "Bun.serve", what: /\bBun\.serve\b/, where: /^server\// },
  { name: "SQL", what: /\bBun\.SQL\b|from "bun:sqlite"|import .*\bSQL\b.* from "bun"/, where: /^storage\// },
  { name: "the image codec", what: /\bBun\.Image\b|\.image\(\)/, where: /^(imaging|sandbox)\// },
  { name: "the foreign image codec", what: /magick-wasm/, where: /^imaging\// },
  { name: "the decoder that tests compare with", what: /from "sharp"/, where: /^$/ },
  { name: "the name of the database's file", what: /gateway\.sqlite/, where: /^run\/stores\.ts$/ },
  // Closing a descriptor of the database or its shared memory drops SQLite's locks. The WAL has no locks.
  {
    name: "opening of the database's files beside SQLite",
    what: /\{[^}]*\b(?:open|read(?!dir)|write|append|copy|cp|create|truncate)\w*[^}]*\} from "node:fs|\bBun\.(?:file|write)\(/,
    where: /^(?!storage\/database\/)|^storage\/database\/wal-file\.ts$/,
  },
  {
    name: "opening of a database's location",
    what: /(?:\b(?:(?:open|cp|(?:read|write|append|copy)File)(?:Sync)?|create(?:Read|Write)Stream)|Bun\.(?:file|write))\(\s*(?:`\$\{)?(?:location|database)\b/,
    where: /^$/,
  },
  // An existing file may be the database, so this code may only create a file or leave an existing file unchanged.
  { name: "private files", what: /openSync\(path, "(?!ax")/, where: /^(?!storage\/private-files\.ts$)/ },
  // A build contains only the threads and folders that `lib/program-files.ts` lists.
  {
    name: "files beside the program's list",
    what: /new URL\([^)]*import\.meta\.url\).*ts"|new URL\("\.[^)]*import\.meta\.url/,
    where: /^lib\/program-files\.ts$/,
  },
  { name: "the archive library", what: /from "tar-stream"/, where: /^storage\/backup\// },
  { name: "Redis", what: /\bRedisClient\b|\bBun\.redis\b/, where: /^storage\// },
  { name: "S3", what: /\bS3Client\b|\bBun\.s3\b/, where: /^storage\// },
  { name: "the environment", what: /\bprocess\.env\b|\bBun\.env\b/, where: /^config\// },
  { name: "the YAML parser", what: /from "yaml"/, where: /^config\// },
  { name: "OpenTelemetry", what: /from "@opentelemetry\//, where: /^telemetry\/otlp\// },
  { name: "the command-line library", what: /from "commander"/, where: /^cli\// },
  {
    // The other files of these folders use `parseBounded`. Those listed below parse our own or already parsed text.
    name: "JSON of others without bounds",
    what: /\bJSON\.parse\(|\.json\(\)/,
    where:
      /^(?!dialects|gateway|lib|providers)|^dialects\/(?:request-body|picture-links)\.ts$|^dialects\/chat\/usage\.ts$|^dialects\/messages\/usage\.ts$|^dialects\/chat\/forward\.ts$|^dialects\/native\/text\/(?:forward|read-parts|usage)\.ts$|^dialects\/responses\/(?:write-reply|forward|usage)\.ts$|^lib\/(?:json|json-spool|parse-json)\.ts$|^lib\/json-spool\/scanner\.ts$|^providers\/vertex\/service-account\.ts$/,
  },
  // Tests set the time of the clock in `lib/clock.ts`. The console has the browser's clock instead.
  {
    name: "the wall clock",
    what: /\bDate\.now\(\)|\bnew Date\(\)/,
    where: /^lib\/clock\.ts$|^console\//,
  },
  { name: "chance", what: /\bMath\.random\b/, where: /^lib\/random\.ts$/ },
  {
    name: "timers",
    what: /\bset(?:Timeout|Interval)\(|\bBun\.sleep\(|from "node:timers/,
    where:
      /^lib\/(?:waiting|deadline-timer|token-counter\/index|spool\/file)\.ts$|^console\/|^storage\/database\/sqlite-upkeep-thread\.ts$/,
  },
  { name: "the wire's money words", what: /\bparseFloat\b/, where: /^$/ },
];

/** Files and folders that vendors share. Every other entry of `providers` belongs to one vendor. */
const SHARED_BY_VENDORS = new Set([
  "provider.ts",
  "registry.ts",
  "transport",
  "images",
  "openai-compatible",
  "messages-compatible",
  "generate-content",
]);

/** Folders that dialects share. Every other folder of `dialects` is one dialect. */
const SHARED_BY_DIALECTS = new Set(["conversation", "sse"]);

const MAX_LINES = 300;
const CRUMB_LINES = 40;
/** Allowed short files, most of which belong to a set of similar files. The list only shrinks. */
const KNOWN_CRUMBS: ReadonlySet<string> = new Set([
  "admin/usage/operations.ts",
  "imaging/profiles.ts",
  "jobs/retention.ts",
  // Parts of the page that the browser loads separately.
  "console/api/operation-paths.ts",
  "console/areas/money/index.tsx",
  "console/shell/organization-picker.tsx",
  "console/shell/phone-menu.tsx",
  "console/texts/en/first.ts",
  "console/texts/en/index.ts",
  "console/texts/zh/first.ts",
  "console/texts/zh/index.ts",
  // Loaded after the runtime has read its variables.
  "main.ts",
  // Reads one format, as the other files of its folder do.
  "imaging/headers/bmp.ts",
  // Routes of one endpoint.
  "server/endpoints/stored-responses.ts",
  "sandbox/index.ts",
  "storage/database/wal-file.ts",
  "storage/live-processes.ts",
]);
/** Allowed number of casts in `src`. The number only shrinks. A cast follows the check that justifies it. */
const MAX_CASTS = 80;
/** Tables and generated types may be long. */
const LONG_BY_NATURE = /\.(?:table|generated)\.ts$/;

interface Source {
  path: string;
  text: string;
  imports: string[];
}

const sources = await readSources();

describe("architecture", () => {
  test("every folder has a floor", () => {
    const unknown = sources
      .map(({ path }) => folderOf(path))
      .filter((folder) => FLOORS[folder] === undefined);
    expect([...new Set(unknown)]).toEqual([]);
  });

  test("no file imports a neighbour folder or a higher floor", () => {
    expect(sources.flatMap(upwardImports)).toEqual([]);
  });

  test("no folder has a cycle of imports", () => {
    expect(findCycles()).toEqual([]);
  });

  test("no vendor is imported but by the registry and by itself", () => {
    expect(sources.flatMap(vendorImports)).toEqual([]);
  });

  test("no dialect imports another one", () => {
    expect(sources.flatMap(siblingImports)).toEqual([]);
  });

  for (const { name, what, where } of FENCES) {
    test(`${name} stays inside its fence`, () => {
      const outside = sources.filter(
        ({ path, text }) => !isTest(path) && !where.test(path) && what.test(text),
      );
      expect(outside.map(({ path }) => path)).toEqual([]);
    });
  }

  test("no file exceeds the maximum length", () => {
    const long = sources.filter(
      ({ path, text }) =>
        !LONG_BY_NATURE.test(path) && !isTest(path) && text.split("\n").length > MAX_LINES + 1,
    );
    expect(long.map(({ path, text }) => `${path}: ${text.split("\n").length}`)).toEqual([]);
  });

  test("no file has a meaningless name", () => {
    const empty = /(?:^|\/)(?:utils?|helpers?|common|misc|types|manager|service)(?:\.ts|\/)/;
    expect(sources.map(({ path }) => path).filter((path) => empty.test(path))).toEqual([]);
  });

  test("no two types have one name", () => {
    expect(equalTypeNames(sources)).toEqual([]);
  });

  // A reader comes to such a short file only from its one importer, and the file lengthens the folder's list.
  test("short files with one importer are listed", () => {
    expect(crumbsOf(sources).filter((path) => !KNOWN_CRUMBS.has(path))).toEqual([]);
    const isCrumb = new Set(crumbsOf(sources));
    expect([...KNOWN_CRUMBS].filter((path) => !isCrumb.has(path))).toEqual([]);
  });

  test("the number of casts does not grow", () => {
    const casts = sources.flatMap(castsOf);
    expect(casts.length <= MAX_CASTS ? [] : casts).toEqual([]);
    const cast = source(
      "lib/a.ts",
      'import { a as b } from "./b.ts";\nconst c = d as Text; // as Text\nconst e = [] as const;',
    );
    expect(castsOf(cast)).toEqual(["lib/a.ts: as Text"]);
  });

  test("the fences catch what they forbid", () => {
    const caught = (text: string, path: string) =>
      FENCES.filter(({ what, where }) => !where.test(path) && what.test(text)).map(({ name }) => name);
    const opened = "opening of a database's location";
    const beside = "opening of the database's files beside SQLite";
    for (const text of ["openSync(location, ", "await open(`${location}-shm`)", "Bun.file(database).bytes()"])
      expect(caught(text, "storage/index.ts")).toEqual([opened]);
    for (const text of ['import { copyFileSync } from "node:fs"', 'import { open } from "node:fs/promises"'])
      expect(caught(text, "storage/database/a.ts")).toEqual([beside]);
    expect(caught('import { statSync } from "node:fs"', "storage/database/a.ts")).toEqual([]);
    expect(caught('openSync(path, "a", MODE)', "storage/private-files.ts")).toEqual(["private files"]);
  });

  test("the rules of names and short files catch what they forbid", () => {
    const named = [
      source("lib/a.ts", "export interface Span {}"),
      source("domain/a.ts", "export type Span = 1;"),
    ];
    expect(equalTypeNames(named)).toEqual(["Span: lib/a.ts, domain/a.ts"]);
    // Two dialects may export equal names, because dialects mirror each other on purpose.
    expect(equalTypeNames([named[0]!, source("dialects/chat/a.ts", "export class Span {}")])).toEqual([]);
    const user = source("lib/b.ts", "", ["lib/a.ts"]);
    expect(crumbsOf([named[0]!, user])).toEqual(["lib/a.ts"]);
    expect(crumbsOf([named[0]!, user, source("lib/c.ts", "", ["lib/a.ts"])])).toEqual([]);
    expect(crumbsOf([source("lib/a.ts", "x\n".repeat(41)), user])).toEqual([]);
  });

  test("the rules themselves catch what they forbid", () => {
    const up: Source = { path: "lib/a.ts", text: "", imports: ["domain/price.ts"] };
    const neighbour: Source = { path: "server/a.ts", text: "", imports: ["storage/sql.ts"] };
    const down: Source = { path: "server/a.ts", text: "", imports: ["gateway/text.ts", "server/b.ts"] };
    expect(upwardImports(up)).toHaveLength(1);
    expect(upwardImports(neighbour)).toHaveLength(1);
    expect(upwardImports(down)).toEqual([]);
    const azure: Source = { path: "providers/azure.ts", text: "", imports: ["providers/vertex/index.ts"] };
    const shared: Source = { path: "providers/images/a.ts", text: "", imports: ["providers/azure.ts"] };
    const own: Source = { path: "providers/vertex/a.ts", text: "", imports: ["providers/vertex/b.ts"] };
    expect([azure, shared].flatMap(vendorImports)).toHaveLength(2);
    expect(vendorImports(own)).toEqual([]);
    const imports = ["dialects/chat/usage.ts", "dialects/sse/frame.ts", "dialects/dialect.ts"];
    expect(siblingImports({ path: "dialects/messages/a.ts", text: "", imports })).toHaveLength(1);
    expect(siblingImports({ path: "dialects/sse/a.ts", text: "", imports })).toHaveLength(1);
    expect(siblingImports({ path: "dialects/text.ts", text: "", imports })).toEqual([]);
  });
});

function source(path: string, text: string, imports: string[] = []): Source {
  return { path, text, imports };
}

/** Returns the casts of a file, without `as const` and names of imports. */
function castsOf({ path, text }: Source): string[] {
  const code = stripped(text).replace(/^(?:import|export)\b[^;(=]*;/gm, "");
  return [...code.matchAll(/ as (?!const\b)([\w[{(]+)/g)].map(([, type]) => `${path}: as ${type}`);
}

/** Returns the type names that are exported twice. Dialects are left out, because they mirror each other. */
function equalTypeNames(all: readonly Source[]): string[] {
  const places = new Map<string, string[]>();
  for (const { path, text } of all) {
    if (path.startsWith("dialects/")) continue;
    for (const [, name = ""] of text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm))
      places.set(name, [...(places.get(name) ?? []), path]);
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(", ")}`);
}

/** Returns the files of at most 40 lines that exactly one other file imports. */
function crumbsOf(all: readonly Source[]): string[] {
  const users = new Map<string, number>();
  for (const { imports } of all)
    for (const target of new Set(imports)) users.set(target, (users.get(target) ?? 0) + 1);
  return all
    .filter(({ path, text }) => users.get(path) === 1 && text.trimEnd().split("\n").length <= CRUMB_LINES)
    .map(({ path }) => path);
}

function upwardImports({ path, imports }: Source): string[] {
  const own = folderOf(path);
  return imports
    .filter((target) => {
      const folder = folderOf(target);
      return folder !== own && (FLOORS[folder] ?? Infinity) >= (FLOORS[own] ?? -1);
    })
    .filter((target) => !(own === "." && folderOf(target) === "."))
    .map((target) => `${path} imports ${target}`);
}

function vendorImports({ path, imports }: Source): string[] {
  if (path === "providers/registry.ts") return [];
  return imports
    .filter((target) => {
      const vendor = vendorOf(target);
      return vendor !== undefined && vendor !== vendorOf(path);
    })
    .map((target) => `${path} imports ${target}`);
}

/** Returns the vendor to which a file belongs, by its file or folder name. Undefined for other files. */
function vendorOf(path: string): string | undefined {
  const [folder, entry = ""] = path.split("/");
  return folder === "providers" && !SHARED_BY_VENDORS.has(entry) ? entry : undefined;
}

/**
 * Returns the imports of sibling dialects. A dialect may import itself, shared folders and files beside the folders. A
 * shared folder may import no dialect.
 */
function siblingImports({ path, imports }: Source): string[] {
  const [top, own, ...inside] = path.split("/");
  if (top !== "dialects" || own === undefined || inside.length === 0) return [];
  const folder = /^dialects\/([\w-]+)\//;
  return imports
    .filter((target) => ![own, ...SHARED_BY_DIALECTS].includes(folder.exec(target)?.[1] ?? own))
    .map((target) => `${path} imports ${target}`);
}

/** Returns the import cycles within each top folder, by depth-first search. Imports of types count too. */
function findCycles(): string[] {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) return void cycles.push([...trail.slice(at), path].join(" → "));
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) {
      if (folderOf(next) === folderOf(path)) visit(next, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}

async function readSources(): Promise<Source[]> {
  const found: Source[] = [];
  for await (const path of new Bun.Glob("**/*.{ts,tsx}").scan(join(ROOT, "src"))) {
    const text = await Bun.file(join(ROOT, "src", path)).text();
    // An import from outside of `src`, such as the manifest, has no number in `FLOORS`.
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
      .map((match) => relative(join(ROOT, "src"), resolve(ROOT, "src", dirname(path), match[1]!)))
      .filter((target) => !target.startsWith(".."));
    if (!isTest(path)) found.push({ path, text, imports });
  }
  return found;
}

function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : ".";
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}
