import { expect, test } from "bun:test";
import { growsTooFast } from "./thread-time.ts";

const sums = new Float64Array(8);

test("quadratic work grows too fast, although its first run is slow", () => {
  const work = (count: number): void => {
    for (let one = 0; one < count; one += 1) for (let other = 0; other < count; other += 1) add(other);
  };
  expect(growsTooFast(work, 6_000)).not.toBeNull();
});

test("linear work does not grow too fast", () => {
  const work = (count: number): void => {
    for (let item = 0; item < count * 2_000; item += 1) add(item);
  };
  expect(growsTooFast(work, 6_000)).toBeNull();
});

function add(item: number): void {
  sums[item & 7]! += item;
}
