/** A key that a mapping has twice; lines count from 1. */
export interface DuplicateKey {
  key: string;
  firstLine: number;
  line: number;
}

/**
 * Finds keys that a block mapping of a YAML text names twice, of which the parser would silently keep the last.
 * The text must be known to parse. Mappings in braces and explicit keys (`? key`) are not looked into.
 */
export function findDuplicateKeys(text: string): DuplicateKey[] {
  const found: DuplicateKey[] = [];
  /** The block mappings that are open, from the outermost in. */
  const open: { column: number; lines: Map<string, number> }[] = [];
  /** Where the last key or entry stands; a value that has begun goes on in all lines further in than this. */
  let place = -1;
  let hasBegun = false;
  for (const [index, line] of text.replaceAll(OUTSIDE, "").split("\n").entries()) {
    const indent = line.search(/\S/);
    if (BLANK.test(line) || (hasBegun && indent > place)) continue;
    const { entry, column, key, hasValue } = readLine(line);
    place = key === null ? (entry ?? Math.min(place, indent)) : column;
    hasBegun = hasValue;
    while ((open.at(-1)?.column ?? -1) > indent) open.pop();
    // Merging is the one key that counts every time.
    if (key === null || key === "<<") continue;
    if (open.at(-1)?.column !== column) open.push({ column, lines: new Map() });
    const lines = open.at(-1)?.lines;
    const firstLine = lines?.get(key);
    if (firstLine === undefined) lines?.set(key, index + 1);
    else found.push({ key, firstLine, line: index + 1 });
  }
  return found;
}

interface Line {
  /** The column of the last entry (`- `) that begins here. */
  entry: number | undefined;
  /** Where what follows the entries stands. */
  column: number;
  key: string | null;
  /** Whether the value stands here, or begins to. */
  hasValue: boolean;
}

/** What may stand at the start of a line and is no part of a document. */
const OUTSIDE = /^\uFEFF?(?:%.*|---(?=\s|$))?/gm;
const BLANK = /^\s*(?:#|$)/;
const ENTRIES = /^\s*(?:[-?:](?:\s+|$))*/;
/** An anchor or a tag, which may stand before any node. */
const PROPERTIES = /^\s*(?:[&!]\S*(?:\s+|$))*/;
const QUOTED_KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*:(?=\s|$)/;
const PLAIN_KEY = /^((?:[^\s\-?:,[\]{}#&*!|>'"%@`]|[-?:](?=\S))(?:(?!\s#).)*?)(?<!\s)\s*:(?=\s|$)/;

function readLine(line: string): Line {
  const entries = ENTRIES.exec(line)?.[0] ?? "";
  const node = line.slice(entries.length).replace(PROPERTIES, "");
  const match = QUOTED_KEY.exec(node) ?? PLAIN_KEY.exec(node);
  const value = node.slice(match?.[0].length ?? 0).replace(PROPERTIES, "");
  return {
    entry: [...entries.matchAll(/\S/g)].at(-1)?.index,
    column: entries.length,
    key: match?.[1] === undefined ? null : String(Bun.YAML.parse(match[1])),
    hasValue: !BLANK.test(value),
  };
}
