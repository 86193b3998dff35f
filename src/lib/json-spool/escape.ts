const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const MAX_ESCAPE_BYTES = 12;
const HEX = /^[0-9a-fA-F]{4}$/;

/** Maps the letter after a backslash to its character; 0 for a letter that does not begin a simple escape. */
const SIMPLE = new Uint8Array(256);
SIMPLE.set([0x22], 0x22);
SIMPLE.set([0x5c], 0x5c);
SIMPLE.set([0x2f], 0x2f);
SIMPLE.set([0x08], 0x62);
SIMPLE.set([0x0c], 0x66);
SIMPLE.set([0x0a], 0x6e);
SIMPLE.set([0x0d], 0x72);
SIMPLE.set([0x09], 0x74);

/** The result of `unescape`: the number of bytes read and written, and the reason why it stopped. */
interface Unescaped {
  read: number;
  written: number;
  /**
   * `quote`: the closing quote; `end`: the end of the data; `more`: an incomplete escape; `invalid`: a control
   * character or an escape that JSON forbids.
   */
  stop: "quote" | "end" | "more" | "invalid";
}

/**
 * Writes the text of a JSON string to `out`, which must be at least as long as `data`. The two escapes of a surrogate
 * pair are read together. A lone surrogate becomes U+FFFD, because UTF-8 cannot encode it. With `skipsLineEnds`, the
 * escapes `\n`, `\r` and `\t` are left out.
 */
export function unescape(data: Buffer, out: Buffer, skipsLineEnds: boolean): Unescaped {
  let read = 0;
  let written = 0;
  while (read < data.byteLength) {
    const byte = data[read] ?? 0;
    if (byte === QUOTE) return { read, written, stop: "quote" };
    if (byte < 0x20) return { read, written, stop: "invalid" };
    if (byte !== BACKSLASH) {
      out[written] = byte;
      written += 1;
      read += 1;
      continue;
    }
    const simple = SIMPLE[data[read + 1] ?? 0] ?? 0;
    if (simple !== 0) {
      const isSkipped = skipsLineEnds && (simple === 0x0a || simple === 0x0d || simple === 0x09);
      if (!isSkipped) out[written] = simple;
      written += isSkipped ? 0 : 1;
      read += 2;
      continue;
    }
    const escape = readUnicode(data, read);
    if (typeof escape === "string") return { read, written, stop: escape };
    written += out.write(escape.text, written);
    read += escape.length;
  }
  return { read, written, stop: "end" };
}

function readUnicode(data: Buffer, at: number): { text: string; length: number } | "more" | "invalid" {
  const kind = data[at + 1];
  if (kind !== undefined && kind !== LETTER_U) return "invalid";
  if (data.byteLength < at + 6) return "more";
  const first = readUnit(data, at);
  if (first === null) return "invalid";
  if (first < 0xd800 || first > 0xdbff) return { text: String.fromCharCode(first), length: 6 };
  const mayBePair =
    [BACKSLASH, undefined].includes(data[at + 6]) && [LETTER_U, undefined].includes(data[at + 7]);
  if (mayBePair && data.byteLength < at + MAX_ESCAPE_BYTES) return "more";
  const second = mayBePair ? readUnit(data, at + 6) : 0;
  if (second === null) return "invalid";
  if (second < 0xdc00 || second > 0xdfff) return { text: "\ufffd", length: 6 };
  return { text: String.fromCharCode(first, second), length: MAX_ESCAPE_BYTES };
}

function readUnit(data: Buffer, at: number): number | null {
  const digits = data.toString("latin1", at + 2, at + 6);
  return HEX.test(digits) ? Number.parseInt(digits, 16) : null;
}
