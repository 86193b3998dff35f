/** JSON text that is written as it is, inside of a value that is written by `writeJson`. */
export class RawJson {
  constructor(readonly text: string) {}

  /** For `JSON.stringify`, which calls this in the order in which it writes. */
  toJSON(): string {
    texts.push(this.text);
    return MARK;
  }
}

/** Nobody can know it, and it leaves the process nowhere. */
const MARK = crypto.randomUUID();
const QUOTED_MARK = JSON.stringify(MARK);
/** Of the value that is being written, which nothing interrupts. */
const texts: string[] = [];

/**
 * The same text as `JSON.stringify`, except that a `RawJson` anywhere in the value is written as it is: big numbers,
 * escapes and the order of members survive.
 */
export function writeJson(value: unknown): string {
  texts.length = 0;
  const written = JSON.stringify(value);
  if (texts.length === 0) return written;
  const [start = "", ...rest] = written.split(QUOTED_MARK);
  return rest.reduce((text, piece, index) => text + texts[index] + piece, start);
}
