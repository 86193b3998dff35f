/** JSON text that `writeJson` writes unchanged inside of a value. */
export class RawJson {
  constructor(readonly text: string) {}

  /** Called by `JSON.stringify`, in the order in which it writes. */
  toJSON(): string {
    texts.push(this.text);
    return MARK;
  }
}

/** Random, and never leaves the process, so no text can contain it. */
const MARK = crypto.randomUUID();
const QUOTED_MARK = JSON.stringify(MARK);
/** The raw texts of the value that is being written. Writing is synchronous, so there is one such value. */
const texts: string[] = [];

/**
 * Writes the same text as `JSON.stringify`, but each `RawJson` in the value unchanged: big numbers, escapes and the
 * order of members survive.
 */
export function writeJson(value: unknown): string {
  texts.length = 0;
  const written = JSON.stringify(value);
  if (texts.length === 0) return written;
  const [start = "", ...rest] = written.split(QUOTED_MARK);
  return rest.reduce((text, piece, index) => text + texts[index] + piece, start);
}
