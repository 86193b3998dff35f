import { expect, test } from "bun:test";
import { SlicedStream } from "./sliced-stream.ts";

function streamOf(...pieces: Buffer[]): SlicedStream {
  return new SlicedStream(
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new Uint8Array(piece));
        controller.close();
      },
    }),
  );
}

test("bytes come in slices, small pieces as they are", async () => {
  const pieces = [Buffer.alloc(100, "a"), Buffer.alloc(40_000, "b"), Buffer.alloc(100, "c")];
  const read = await Array.fromAsync(streamOf(...pieces));
  expect(read.map(({ length }) => length)).toEqual([100, 16_384, 16_384, 7_232, 100]);
  expect(Buffer.concat(read).equals(Buffer.concat(pieces))).toBe(true);
});

test("others get a turn while a long piece is worked through", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  for await (const _ of streamOf(Buffer.alloc(1_000_000)))
    for (const start = performance.now(); performance.now() - start < 2;);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});
