import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expectOnPages } from "./exceptions.ts";
import { isGenerated, nameOf, PAGES, ROOT, tablesOf, USER_PAGES } from "./pages.ts";

/* Rules for the form of every document. */
const MAX_CELL = 90;
const MAX_LINES = 250;

const byPath = new Map(PAGES.map((page) => [page.path, page]));

describe("what documents point to is there", () => {
  test.each(PAGES.map(({ path }) => path))("links of %s", (path) => {
    const links = [...(byPath.get(path)?.prose ?? "").matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)];
    const lost = links.flatMap(([, link = ""]) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(ROOT, target))) return [link];
      return anchor === undefined || byPath.get(target)?.anchors.has(anchor) !== false ? [] : [link];
    });
    expect(lost).toEqual([]);
  });

  test.each(PAGES.map(({ path }) => path))("files that %s names", (path) => {
    const names = [
      ...(byPath.get(path)?.text ?? "").matchAll(/`((?:src|test|bench|catalogue|docs)\/[\w./-]*\w)`/g),
    ];
    expect(names.map(([, name]) => name ?? "").filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });
});

test("every row of a table has the cells of its head", () => {
  const uneven = PAGES.flatMap((page) =>
    tablesOf(page).flatMap(([head = [], ...rows]) =>
      rows.filter((row) => row.length !== head.length).map((row) => `${page.path}: ${row.join(" | ")}`),
    ),
  );
  expect(uneven).toEqual([]);
});

test("no cell of a table has over 90 characters", () => {
  expectOnPages("no cell of a table has over 90 characters", USER_PAGES, (page) =>
    tablesOf(page)
      .flat(2)
      .map((cell) => cell.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"))
      .filter((cell) => cell.length > MAX_CELL),
  );
});

test("a page written by hand has at most 250 lines", () => {
  const written = USER_PAGES.filter((page) => page.path.startsWith("docs/") && !isGenerated(page));
  expectOnPages("a page written by hand has at most 250 lines", written, ({ text }) => {
    const lines = text.trimEnd().split("\n").length;
    return lines > MAX_LINES ? [`${lines} lines`] : [];
  });
});

test("no page for users names a file of the program", () => {
  const pages = USER_PAGES.filter(
    ({ path }) => path.startsWith("docs/") && !path.startsWith("docs/contribute/"),
  );
  expectOnPages("no page for users names a file of the program", pages, ({ text }) =>
    [...text.matchAll(/\bsrc\/[\w./-]+\.ts\b/g)].map(([name]) => name),
  );
});

test("a command whose output goes elsewhere is started by `npm -s`, whose own lines would go there too", () => {
  const loud = PAGES.flatMap(({ path, text }) => loudCommands(text).map((command) => `${path}: ${command}`));
  expect(loud).toEqual([]);
});

test.each([
  ["npm start -- config export > state.yaml", true],
  ["npm start -- config export \\\n  >> state.yaml", true],
  ["GROQ_API_KEY=x npm start -- check | grep oss", true],
  ["ID=$(npm start -- keys create --json)", true],
  ["npm -s start -- config export > state.yaml", false],
  ["npm start -- config import --dry-run state.yaml || echo 'It differs | here'", false],
  ["npm start -- orgs set <id> --disabled off", false],
  ["npm start -- orgs list; grep x < y > z", false],
  ["npm start -- orgs list && grep x y | wc", false],
  ["npm start -- demo 2> errors.txt", false],
])("the output of '%s' goes elsewhere: %p", (command, isLoud) => {
  expect(loudCommands(command).length > 0).toBe(isLoud);
});

/** Returns the commands that write npm's own output into a file, a variable or another command. */
function loudCommands(text: string): string[] {
  const joined = text.replaceAll("\\\n", " ");
  return [...joined.matchAll(/(\$\()?\bnpm start -- [^\n`;]*/g)].flatMap(([command, isCaptured]) => {
    const [own = ""] = command.replaceAll(/<[\w-]+>|'[^']*'|"[^"]*"/g, "").split(/&&|\|\|/);
    return isCaptured || /\||(?<!\d)>/.test(own) ? [command.trim()] : [];
  });
}

test("every folder of pages lists them in the order of the navigation", async () => {
  const folders = readdirSync(join(ROOT, "docs"), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && PAGES.some(({ path }) => path.startsWith(`docs/${entry.name}/`)),
  );
  expect(folders.length).toBeGreaterThan(0);
  for (const { name: folder } of folders) {
    const meta = Bun.file(join(ROOT, "docs", folder, "_meta.json"));
    const entries: unknown = (await meta.exists()) ? await meta.json() : [];
    const listed = Array.isArray(entries)
      ? entries.map((entry: unknown) => (typeof entry === "string" ? entry : Object(entry)["name"]))
      : [];
    const pages = PAGES.filter(({ path }) => dirname(path) === `docs/${folder}`).map(nameOf);
    expect([folder, listed.toSorted()]).toEqual([folder, pages.toSorted()]);
  }
});
