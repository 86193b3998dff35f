import { expect, test } from "bun:test";
import { createCanvas } from "./landscape.ts";
import { drawLettering, glyphOf, layOut } from "./lettering.ts";

const INK = 0xffffffff;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");

/** Draws a line of text, and reads it by comparing each cell with the font's letters. */
function readBack(text: string): string {
  const canvas = createCanvas((text.length + 4) * 6, 30);
  drawLettering(canvas, layOut([text], canvas), { x: 0, y: 0, ...canvas }, INK);
  let read = "";
  for (let cell = 1; cell <= text.length; cell += 1) {
    const rows = Array.from({ length: 8 }, (_, row) => {
      let dots = 0;
      for (let column = 0; column < 5; column += 1)
        dots = dots * 2 + (canvas.pixels[(row + 5) * canvas.width + cell * 6 + column] === INK ? 1 : 0);
      return dots;
    });
    read += Array.from(PRINTABLE).find((letter) => Bun.deepEquals(glyphOf(letter), rows)) ?? "?";
  }
  return read;
}

test("every printable character can be read back from the picture", () => {
  const text = PRINTABLE.trim();
  expect(readBack(text)).toBe(text);
  expect(readBack("The quick brown fox: 42%!")).toBe("The quick brown fox: 42%!");
});

test("every other character is a box", () => {
  expect(readBack("a水墨b")).toBe("a??b");
  expect(glyphOf("水")).toEqual(glyphOf("🦊"));
});

test("text breaks at spaces and shrinks until it fits", () => {
  const large = layOut(["one two"], { width: 540, height: 270 });
  expect(large).toEqual({ lines: ["one two"], scale: 3, height: 60 });
  const words = "one two three four five six seven eight nine ten eleven twelve";
  const small = layOut([words, "end"], { width: 360, height: 200 });
  expect(small.lines.slice(0, -1).join(" ")).toBe(words);
  expect(small.lines.at(-1)).toBe("end");
  expect(small.height).toBeLessThanOrEqual(200);
});

test("a word longer than a line is broken anywhere", () => {
  expect(layOut(["x".repeat(25)], { width: 72, height: 600 }).lines).toEqual([
    "x".repeat(10),
    "x".repeat(10),
    "x".repeat(5),
  ]);
});

test("a text that cannot fit is cut off", () => {
  const lettering = layOut(["word ".repeat(100_000)], { width: 240, height: 50 });
  expect(lettering.lines.length).toBe(4);
  expect(lettering.height).toBeLessThanOrEqual(50);
});
