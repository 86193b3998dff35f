import { fillRectangle, type Canvas, type Color, type Rectangle } from "./landscape.ts";

/** Size of a letter with the space around it, measured in dots of the font. */
const CELL_WIDTH = 6;
const CELL_HEIGHT = 10;

/** Maximum number of characters of a text. A longer text would be too small to read. */
const MAX_CHARACTERS = 4000;

/** A text as lines, with the scale at which the lines fit into the area. */
interface Lettering {
  lines: string[];
  /** Number of pixels per dot. */
  scale: number;
  /** Height of all lines in pixels, with margins. */
  height: number;
}

/**
 * Breaks paragraphs into lines. Uses the largest scale at which all lines fit into the area. If the lines do not fit
 * even at scale 1, omits the last lines.
 */
export function layOut(paragraphs: readonly string[], area: { width: number; height: number }): Lettering {
  const plain = paragraphs.map((text) => text.slice(0, MAX_CHARACTERS).replace(/[\s\p{C}\p{M}]+/gu, " "));
  for (let scale = Math.max(1, Math.floor(Math.min(area.width, area.height) / 90)); ; scale -= 1) {
    const columns = Math.max(2, Math.floor(area.width / (CELL_WIDTH * scale)) - 2);
    const maxLines = Math.max(1, Math.floor(area.height / (CELL_HEIGHT * scale)) - 1);
    const lines = plain.flatMap((text) => breakLines(text, columns));
    if (lines.length > maxLines && scale > 1) continue;
    const kept = lines.slice(0, maxLines);
    return { lines: kept, scale, height: (kept.length + 1) * CELL_HEIGHT * scale };
  }
}

/** Breaks a text into lines, at spaces where possible. */
function breakLines(text: string, columns: number): string[] {
  return text.match(new RegExp(`\\S.{0,${columns - 1}}(?= |$)|\\S.{${columns - 1}}`, "gu")) ?? [];
}

/** Draws the lines of a text that `layOut` has made, starting at the top left of an area. */
export function drawLettering(canvas: Canvas, lettering: Lettering, area: Rectangle, color: Color): void {
  const { lines, scale } = lettering;
  for (const [line, text] of lines.entries()) {
    for (const [column, character] of Array.from(text).entries()) {
      const x = area.x + (column + 1) * CELL_WIDTH * scale;
      const y = area.y + (line + 0.5) * CELL_HEIGHT * scale;
      drawGlyph(canvas, glyphOf(character), { x, y, width: scale, height: scale }, color);
    }
  }
}

/** Draws the dots of a glyph. `first` is the area of its top left dot. */
function drawGlyph(canvas: Canvas, rows: readonly number[], first: Rectangle, color: Color): void {
  for (const [row, dots] of rows.entries()) {
    for (let column = 0; column < 5; column += 1) {
      if (((dots >> (4 - column)) & 1) === 0) continue;
      const { x, y, width, height } = first;
      fillRectangle(canvas, { x: x + column * width, y: y + row * height, width, height }, color);
    }
  }
}

/**
 * Returns the rows of a character from top to bottom. A row has 5 bits; the highest bit is the leftmost dot. An unknown
 * character is shown as a box.
 */
export function glyphOf(character: string): readonly number[] {
  return GLYPHS[(character.codePointAt(0) ?? 0) - FIRST_PRINTABLE] ?? BOX;
}

const FIRST_PRINTABLE = 32;
const BOX = [31, 17, 17, 17, 17, 17, 31, 0];

/**
 * The printable ASCII characters, starting with the space. Each character has eight rows, and each row is one base-32
 * digit. The last row is below the baseline.
 */
const GLYPHS = (
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
  .map((code) => Array.from(code, (digit) => Number.parseInt(digit, 32)));
