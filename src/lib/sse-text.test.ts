import { expect, test } from "bun:test";
import { readEventData } from "./sse-text.ts";

const STREAM = [
  "\uFEFF: a comment\n\n",
  "event: delta\r\ndata: one\r\n\r\n",
  "data:two\ndata: lines\n\n",
  'data: {"text":"é 港"}\r\r',
  "data: never ended",
].join("");
const DATA = ["one", "two\nlines", '{"text":"é 港"}'];

test.each([1, 2, 3, 7, 1_000])("events are the same in chunks of %i bytes", async (size) => {
  const bytes = new TextEncoder().encode(STREAM);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  expect(await Array.fromAsync(readEventData(body))).toEqual(DATA);
});

test("a reader that leaves early cancels the response", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: again\n\n")),
    cancel: () => void (isCancelled = true),
  });
  for await (const data of readEventData(body)) if (data === "again") break;
  expect(isCancelled).toBe(true);
});
