import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";

/** Folder of the project. */
export const ROOT = resolve(import.meta.dir, "../..");

/** False where the site has not been built from the documents, which is said once. */
export const isSiteBuilt: boolean = existsSync(join(ROOT, "dist/docs/site.json"));
if (!isSiteBuilt) console.warn("skipped: the site is not built (npm ci --prefix site && npm run site)");

/** A document as its rules see it. */
export interface Page {
  /** From the folder of the project: `docs/setup/keys.md`. */
  path: string;
  text: string;
  /** The text with its code blocks emptied, line for line. */
  prose: string;
  fences: readonly Fence[];
  /** The anchors of its headings, as code hosts make them. */
  anchors: ReadonlySet<string>;
}

/** A code block. */
export interface Fence {
  page: string;
  /** The line of its opening, from 1. */
  line: number;
  /** Its language; empty where it names none. */
  language: string;
  /** The file in the reader's home folder whose content it is: `.codex/config.toml`. */
  file: string | undefined;
  /** The comment above it: `run`, `not run: reason`; null for a block without one. */
  mark: string | null;
  code: string;
}

/** A block with its indent, language and content. */
const FENCE = /^( *)```(\S*)(?: ~\/(\S+))?[^\n]*\n([^]*?)^\1``` *$/gm;
/** The comment right before it. */
const MARK = /<!-- (.+?) -->\s*$/;

/** Every document: those of the first folder, and those of `docs`. */
export const PAGES: readonly Page[] = await Promise.all(
  ["*.md", "docs/**/*.md"]
    .flatMap((glob) => Array.from(new Bun.Glob(glob).scanSync(ROOT)))
    .toSorted()
    .map(readPage),
);

/** The pages that users read: those of `docs`, and the README. */
export const USER_PAGES: readonly Page[] = PAGES.filter(
  ({ path }) => path.startsWith("docs/") || path === "README.md",
);

/** Whether a page is written by `npm run reference`. */
export function isGenerated({ text }: Page): boolean {
  return text.includes("`npm run reference` writes it");
}

/** The rows of every table of a page, each as its cells. The row below the head is left out. */
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

/** The name of a page in its folder's `_meta.json`. */
export function nameOf({ path }: Page): string {
  return basename(path, ".md");
}
