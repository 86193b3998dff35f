import { isAlias, isScalar, LineCounter, parseDocument, stringify, visit, type Document } from "yaml";

/** A problem at a position in the text. Lines and columns count from 1. */
interface YamlProblem {
  line: number;
  column: number;
  message: string;
}

/**
 * Reads a YAML text. Reports syntax errors, and every key that occurs twice in a mapping, because a parser would keep
 * only the last occurrence. The value is undefined when the text cannot be read.
 */
export function readYaml(text: string): { value: unknown; problems: YamlProblem[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    merge: true,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const problemAt = (offset: number, message: string): YamlProblem => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col, message };
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    return {
      value: undefined,
      problems: faults.map(({ pos: [offset], message }) => problemAt(offset, `is not YAML: ${message}`)),
    };
  const problems = duplicateKeys(document).map(({ key, first, offset }) => {
    const message = `names ${JSON.stringify(key)} again after line ${lines.linePos(first).line}, of which only the last would count; write it once`;
    return problemAt(offset, message);
  });
  try {
    return { value: document.toJS(), problems };
  } catch (error) {
    // The error is about an unknown alias, or about aliases that expand to too many copies.
    const reason = error instanceof Error ? error.message : "it cannot be read";
    return { value: undefined, problems: [problemAt(0, `is not YAML: ${reason}`)] };
  }
}

/** Returns a value as YAML that people can read. `readYaml` reads it back as the same value. */
export function writeYaml(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 110 });
}

interface DuplicateKey {
  key: string;
  /** Offset of the key's first occurrence. `offset` is the offset of the repeated occurrence. */
  first: number;
  offset: number;
}

function duplicateKeys(document: Document.Parsed): DuplicateKey[] {
  const found: DuplicateKey[] = [];
  visit(document, {
    Map(_, { items }) {
      const firstOffsets = new Map<string, number>();
      for (const { key } of items) {
        const offset = isScalar(key) || isAlias(key) ? key.range?.[0] : undefined;
        const scalar = isAlias(key) ? key.resolve(document) : key;
        // The parser returns the merge key `<<` as a symbol. A mapping may contain several merge keys.
        if (offset === undefined || !isScalar(scalar) || typeof scalar.value === "symbol") continue;
        const name = String(scalar.value);
        const first = firstOffsets.get(name);
        if (first === undefined) firstOffsets.set(name, offset);
        else found.push({ key: name, first, offset });
      }
    },
  });
  return found.sort((one, other) => one.offset - other.offset);
}
