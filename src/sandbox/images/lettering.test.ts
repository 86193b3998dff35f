import { expect, test } from "bun:test";
import { createCanvas } from "./canvas.ts";
import { CELL_HEIGHT, CELL_WIDTH, GLYPH_ROWS, glyphOf } from "./font.ts";
import { drawLettering, layOut } from "./lettering.ts";

const INK = 0xffffffff;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");

/** Draws a line and reads it back by comparing each cell with the letters of the font. */
function readBack(text: string): string {
  const canvas = createCanvas((text.length + 4) * CELL_WIDTH, 3 * CELL_HEIGHT);
  drawLettering(canvas, layOut(text, canvas.width, canvas.height, 1), { x: 0, y: 0, ...canvas }, INK);
  let read = "";
  for (let cell = 1; cell <= text.length; cell += 1) {
    const rows = Array.from({ length: GLYPH_ROWS }, (_, row) => {
      let dots = 0;
      for (let column = 0; column < 5; column += 1) {
        const index = (row + CELL_HEIGHT / 2) * canvas.width + cell * CELL_WIDTH + column;
        dots = dots * 2 + (canvas.pixels[index] === INK ? 1 : 0);
      }
      return dots;
    });
    read += Array.from(PRINTABLE).find((letter) => Bun.deepEquals(glyphOf(letter).rows, rows)) ?? "?";
  }
  return read;
}

test("every printable character can be read back from the picture", () => {
  const text = PRINTABLE.trim();
  expect(readBack(text)).toBe(text);
  expect(readBack("The quick brown fox: 42%!")).toBe("The quick brown fox: 42%!");
});

test("every other character is a distinct block", () => {
  const characters = Array.from("水墨画天地é🦊日本語");
  const blocks = characters.map((character) => JSON.stringify(glyphOf(character)));
  expect(new Set(blocks).size).toBe(characters.length);
  expect(glyphOf("水")).toEqual(glyphOf("水"));
});

test("text breaks at spaces and shrinks until it fits", () => {
  const large = layOut("one two", 30 * CELL_WIDTH, 10 * CELL_HEIGHT, 2);
  expect(large.scale).toBe(2);
  const small = layOut(
    "one two three four five six seven eight nine ten",
    30 * CELL_WIDTH,
    6 * CELL_HEIGHT,
    2,
  );
  expect(small.scale).toBe(1);
  expect(small.lines.length).toBe(2);
  for (const line of small.lines) expect(line.length).toBeLessThanOrEqual(28);
});

test("a text that cannot fit is cut off", () => {
  const lettering = layOut("word ".repeat(100_000), 40 * CELL_WIDTH, 5 * CELL_HEIGHT, 3);
  expect(lettering.lines.length).toBeLessThanOrEqual(5);
  expect(lettering.height).toBeLessThanOrEqual(6 * CELL_HEIGHT);
});
