import { expect, test } from "bun:test";
import { NumberLists } from "./embeddings.ts";

const TEXT =
  '{"data":[{"embedding":[1e-7, -2.5],"note":"input[0] of [ 3"},{"embedding":[]},[4,"x"]],"list":[5]}';

test.each([1, 2, 7, 1_000])("lists of numbers are taken out and put back, in pieces of %i", (size) => {
  const lists = new NumberLists();
  for (let at = 0; at < TEXT.length; at += size) lists.push(TEXT.slice(at, at + size));
  expect(JSON.parse(lists.text)).toEqual({
    data: [{ embedding: [0], note: "input[1] of [ 3" }, { embedding: [] }, [4, "x"]],
    list: [2],
  });
  expect(lists.restore(lists.text)).toBe(TEXT);
});

test("a list without an end does not grow", () => {
  const lists = new NumberLists();
  const piece = "1,".repeat(32 * 1024);
  lists.push("[");
  for (let count = 0; count < 64; count += 1) lists.push(piece);
  expect(lists.text).toBe(`[${piece.repeat(64)}`);
});
