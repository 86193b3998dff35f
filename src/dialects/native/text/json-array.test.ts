import { expect, test } from "bun:test";
import fc from "fast-check";
import { native } from "./index.ts";
import { asJsonArray } from "./json-array.ts";

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const textOf = (chunks: readonly Uint8Array[]) => new Response(asJsonArray(streamOf(chunks))).text();

test("events in any pieces, with keep-alives between them, are one array", async () => {
  const values = fc.array(fc.record({ text: fc.string({ unit: "grapheme" }) }), { maxLength: 4 });
  const property = fc.asyncProperty(
    values,
    fc.infiniteStream(fc.integer({ min: 1, max: 30 })),
    async (items, sizes) => {
      const alive = Buffer.from(native.keepAliveFrame);
      const frames = items.flatMap((item) => [alive, Buffer.from(`data: ${JSON.stringify(item)}\n\n`)]);
      const bytes = Buffer.concat([...frames, alive]);
      const chunks: Buffer[] = [];
      for (let from = 0; from < bytes.length;) {
        const size = Number(sizes.next().value);
        chunks.push(bytes.subarray(from, from + size));
        from += size;
      }
      expect(JSON.parse(await textOf(chunks))).toEqual(items);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test("a bare error is the only item", async () => {
  const error = { error: { code: 503, message: "away" } };
  const chunks = [Buffer.from(native.keepAliveFrame), Buffer.from(JSON.stringify(error))];
  expect(JSON.parse(await textOf(chunks))).toEqual([error]);
});

test("a keep-alive is a comment in a block of its own", () => {
  expect(Buffer.from(native.keepAliveFrame).toString()).toMatch(/^:[^\n]*\n\n$/);
});

test("a client that leaves cancels the events", async () => {
  const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.from("data: {}\n\n")),
    cancel: resolve,
  });
  const reader = asJsonArray(endless).getReader();
  await reader.read();
  await reader.cancel("gone");
  expect(await cancelled).toBe("gone");
});
