import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "../..");

/** False when the site is not built. Then a message is printed once. */
export const isSiteBuilt: boolean = existsSync(join(ROOT, "dist/docs/site.json"));
if (!isSiteBuilt) console.warn("skipped: the site is not built (npm ci --prefix site && npm run site)");

/** A document, parsed for the rules. */
export interface Page {
  /** Path from the project's root folder, such as `docs/set-up/keys.md`. */
  path: string;
  text: string;
  /** The text without the content of code blocks, whose lines are empty here. */
  prose: string;
  fences: readonly Fence[];
  /** Anchors of the headings, as code hosts write them, and ids of `<a id>`. */
  anchors: ReadonlySet<string>;
}

/** A code block. */
export interface Fence {
  page: string;
  /** Number of the block's first line; a page begins with line 1. */
  line: number;
  /** Language of the block; empty when none is given. */
  language: string;
  /** File in the reader's home folder that the block shows, such as `.codex/config.toml`. */
  file: string | undefined;
  /** The comment above the block, such as `run` or `not run: reason`; null when there is none. */
  mark: string | null;
  code: string;
}

/** Matches a code block. The groups are indent, language, file and content. */
const FENCE = /^( *)```(\S*)(?: ~\/(\S+))?[^\n]*\n([^]*?)^\1``` *$/gm;
/** Matches a comment directly before a code block. */
const MARK = /<!-- (.+?) -->\s*$/;

/** All documents: those in the root folder and in `docs`. */
export const PAGES: readonly Page[] = await Promise.all(
  ["*.md", "docs/**/*.md"]
    .flatMap((glob) => Array.from(new Bun.Glob(glob).scanSync(ROOT)))
    .toSorted()
    .map(readPage),
);

/** Pages for users: those of `docs`, and the README. */
export const USER_PAGES: readonly Page[] = PAGES.filter(
  ({ path }) => path.startsWith("docs/") || path === "README.md",
);

/** True for a page that `npm run reference` writes. */
export function isGenerated({ text }: Page): boolean {
  return text.includes("`npm run reference` writes it");
}

/** Returns every table of a page as rows of cells, without the line below the heading. */
export function tablesOf({ prose }: Page): string[][][] {
  return [...prose.matchAll(/(?:^ *\|.*\n)+/gm)].map(([table]) =>
    table
      .trim()
      .split("\n")
      .filter((_, index) => index !== 1)
      .map((row) =>
        row
          .trim()
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.trim()),
      ),
  );
}

async function readPage(path: string): Promise<Page> {
  const text = await Bun.file(join(ROOT, path)).text();
  const fences = [...text.matchAll(FENCE)].map((match): Fence => {
    const [, indent = "", language = "", file, code = ""] = match;
    const before = text.slice(0, match.index);
    return {
      page: path,
      line: before.split("\n").length,
      language,
      file,
      mark: MARK.exec(before)?.[1] ?? null,
      code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    };
  });
  const prose = text.replace(FENCE, (block) => block.replace(/[^\n]+/g, ""));
  return { path, text, prose, fences, anchors: anchorsOf(prose) };
}

function anchorsOf(prose: string): Set<string> {
  const anchors = new Set([...prose.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id));
  for (const [, title = ""] of prose.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns the name by which a folder's `_meta.json` lists a page. */
export function nameOf({ path }: Page): string {
  return basename(path, ".md");
}
