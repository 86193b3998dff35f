import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The parts of the documents, in the order in which readers need them. Each part is a folder of `docs`. */
const PARTS = {
  start: "Start",
  connect: "Connect",
  build: "Build",
  "set-up": "Set up",
  run: "Run",
  "at-3-am": "At 3 a.m.",
  "money-and-privacy": "Money and privacy",
  reference: "Reference",
  contribute: "Contribute",
} as const;

interface Page {
  text: string;
  /** Path of the page on the site, after the base. */
  link: string;
}

interface Part {
  /** Name of the folder in `docs`; empty for the pages of `docs` itself. */
  folder: string;
  title: string;
  pages: Page[];
}

/** Returns every part that has pages, in the order of the navigation. */
export function partsOf(docs: string): Part[] {
  const folders = Object.entries({ ...PARTS, "": "More" });
  const parts = folders.map(([folder, title]) => ({ folder, title, pages: pagesOf(docs, folder) }));
  return parts.filter(({ pages }) => pages.length > 0);
}

/** Returns the top navigation: a link to the first page of each folder, and a link to the interface's page. */
export function topNavigation(parts: readonly Part[]) {
  const folders = parts.filter(({ folder }) => folder !== "");
  const links = folders.map(({ folder, title, pages: [first] }) => ({
    text: title,
    link: first?.link ?? "/",
    activeMatch: `^/${folder}/`,
  }));
  return [...links, { text: "API", link: "/api" }];
}

/** Returns the sidebars. A page of a part lists the pages of that part. Any other page lists all pages. */
export function sidebars(parts: readonly Part[]) {
  const groups = parts.map(({ folder, title, pages }) => ({
    path: `/${folder}/`.replace("//", "/"),
    group: { text: title, items: pages, collapsible: true },
  }));
  const own = groups.filter(({ path }) => path !== "/").map(({ path, group }) => [path, [group]] as const);
  return { ...Object.fromEntries(own), "/": groups.map(({ group }) => group) };
}

/**
 * Returns the pages of a folder in the order of its `_meta.json`, which must list every page. Without that file, sorts
 * the pages by name.
 */
function pagesOf(docs: string, folder: string): Page[] {
  const path = join(docs, folder);
  if (!existsSync(path)) return [];
  const list = join(path, "_meta.json");
  const isPage = (name: string) => name.endsWith(".md") && !(folder === "" && name === "index.md");
  const there = readdirSync(path)
    .filter(isPage)
    .map((name) => name.slice(0, -3));
  const named = existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as string[]) : there.sort();
  const problems = [
    ...named.filter((name) => !there.includes(name)).map((name) => `${name}.md is named and not there`),
    ...there.filter((name) => !named.includes(name)).map((name) => `${name}.md is not named`),
  ];
  if (problems.length > 0) throw new Error(`docs/${folder}/_meta.json: ${problems.join(", ")}`);
  return named.map((name) => ({
    text: titleOf(join(path, `${name}.md`)),
    link: join("/", folder, name === "index" ? "/" : name),
  }));
}

function titleOf(path: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(path, "utf8")) ?? [];
  if (title === undefined) throw new Error(`${path} has no heading`);
  return title.replaceAll("`", "");
}
