import { expect, test } from "bun:test";
import { GrowingObject } from "./growing-object.ts";

/** Returns the indexes of the pieces after which the object is complete. */
function wholeAfter(...pieces: string[]): number[] {
  const object = new GrowingObject();
  return pieces.flatMap((piece, index) => (object.add(piece) ? [index] : []));
}

test("an object is whole once, with the piece that closes its brackets", () => {
  expect(wholeAfter('{"a', '":"}', '"', "}", " ", "\n")).toEqual([3]);
  expect(wholeAfter('{"a":{"b":[1', "]}", "}")).toEqual([2]);
  expect(wholeAfter('{"a":"\\', '"}', '"', "}")).toEqual([3]);
});

test("a text that is no object never becomes one", () => {
  expect(wholeAfter("")).toEqual([]);
  expect(wholeAfter('{"a":1', "]", "}")).toEqual([]);
  expect(wholeAfter("{}x", "{}")).toEqual([]);
});
