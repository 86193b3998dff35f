/**
 * Splits a text into tokens. Letters and digits form pieces of up to four characters. Each punctuation mark, CJK
 * character and run of white space is one token. A piece or mark includes a single space before it. Joined tokens equal
 * the text.
 */
export function splitTokens(text: string): string[] {
  const tokens: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = tokenEnd(text, start);
    tokens.push(text.slice(start, end));
    start = end;
  }
  return tokens;
}

/** Returns the number of tokens in a text, as `splitTokens` splits it. */
export function countTokens(text: string): number {
  let count = 0;
  for (let start = 0; start < text.length; start = tokenEnd(text, start)) count += 1;
  return count;
}

const MAX_WORD_PIECE = 4;
const SPACE = 32;

type Kind = "word" | "space" | "cjk" | "mark";

function tokenEnd(text: string, start: number): number {
  let position = start;
  let kind = kindAt(text, position);
  if (text.charCodeAt(position) === SPACE && position + 1 < text.length) {
    const next = kindAt(text, position + 1);
    if (next === "word" || next === "mark") {
      position += 1;
      kind = next;
    }
  }
  if (kind === "cjk" || kind === "mark") return position + widthAt(text, position);
  const limit = kind === "word" ? position + MAX_WORD_PIECE : text.length;
  position += widthAt(text, position);
  while (position < limit && position < text.length && kindAt(text, position) === kind)
    position += widthAt(text, position);
  return position;
}

/** Returns the number of code units of the character at a position. A surrogate pair has 2 units. */
export function widthAt(text: string, position: number): number {
  return (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
}

function kindAt(text: string, position: number): Kind {
  const code = text.codePointAt(position) ?? 0;
  if (code < 128) return ASCII_KINDS[code] ?? "mark";
  return isCjk(code) ? "cjk" : "word";
}

const ASCII_KINDS: readonly Kind[] = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z0-9_]/.test(character)) return "word";
  return /\s/.test(character) ? "space" : "mark";
});

/** True for Han, kana, hangul, their punctuation and full-width forms, and U+1F300 to U+3FFFF (emoji, rare Han). */
function isCjk(code: number): boolean {
  return (
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff00 && code <= 0xffef) ||
    (code >= 0x1f300 && code <= 0x3ffff)
  );
}
