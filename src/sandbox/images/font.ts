/**
 * A letter drawn as a small grid. `rows` run from the top; the highest bit of a row is its leftmost dot.
 */
export interface Glyph {
  /** Dots across: 5 for printable ASCII, 11 for every other character. */
  width: 5 | 11;
  /** Always `GLYPH_ROWS` of them. */
  rows: readonly number[];
}

export const GLYPH_ROWS = 8;

/** Letter cells are this many dots wide and high, the space between letters and lines included. */
export const CELL_WIDTH = 6;
export const CELL_HEIGHT = 10;

/** The glyphs of `!` to `~` and the space before them, a row per base-32 digit, the last row below the line. */
const ASCII_GLYPHS = (
  "00000000 44444040 aa000000 aavavaa0 4fke5u40 op248j30 cik8lid0 44000000 24888420 84222480 04lel400 044v4400 " +
  "00000448 000v0000 00000cc0 11248gg0 ehjlphe0 4c4444e0 eh1248v0 v2421he0 26aiv220 vgu11he0 68guhhe0 v1248880 " +
  "ehhehhe0 ehhf12c0 0cc0cc00 0cc0c480 248g8420 00v0v000 84212480 eh124040 eh1dlle0 ehhvhhh0 uhhuhhu0 ehggghe0 " +
  "sihhhis0 vgguggv0 vgguggg0 ehgnhhf0 hhhvhhh0 e44444e0 72222ic0 hikokih0 ggggggv0 hrllhhh0 hhpljhh0 ehhhhhe0 " +
  "uhhuggg0 ehhhlid0 uhhukih0 fgge11u0 v4444440 hhhhhhe0 hhhhha40 hhhllla0 hha4ahh0 hhha4440 v1248gv0 e88888e0 " +
  "gg842110 e22222e0 4ah00000 000000v0 84000000 00e1fhf0 ggmphhu0 00egghe0 11djhhf0 00ehvge0 698s8880 00fhhf1e " +
  "ggmphhh0 40c444e0 206222ic ggikoki0 c44444e0 00qllhh0 00mphhh0 00ehhhe0 00uhhugg 00fhhf11 00mpggg0 00ege1u0 " +
  "88s88960 00hhhjd0 00hhha40 00hhlla0 00ha4ah0 00hhhf1e 00v248v0 24484420 44444440 84424480 008l2000"
)
  .split(" ")
  .map(
    (code) => ({ width: 5, rows: Array.from(code, (digit) => Number.parseInt(digit, 32)) }) satisfies Glyph,
  );

const FIRST_PRINTABLE = 32;
const FRAME_ROW = 0b11111111111;

/** The glyph of a character: its letter for printable ASCII, a block of its own for everything else. */
export function glyphOf(character: string): Glyph {
  const code = character.codePointAt(0) ?? FIRST_PRINTABLE;
  return ASCII_GLYPHS[code - FIRST_PRINTABLE] ?? blockOf(code);
}

/** A framed, mirrored block whose dots are the hash of the character: alike only for the same character. */
function blockOf(code: number): Glyph {
  const hash = Math.imul(code ^ (code >>> 7), 0x9e3779b1) ^ Math.imul(code, 0x85ebca6b);
  const rows = [FRAME_ROW];
  for (let row = 0; row < GLYPH_ROWS - 2; row += 1) {
    const half = (hash >>> (row * 5)) & 0b11111;
    let dots = 0b10000000001;
    for (let bit = 0; bit < 4; bit += 1) if ((half >> bit) & 1) dots |= (1 << (bit + 1)) | (1 << (9 - bit));
    if (half & 0b10000) dots |= 1 << 5;
    rows.push(dots);
  }
  rows.push(FRAME_ROW);
  return { width: 11, rows };
}
