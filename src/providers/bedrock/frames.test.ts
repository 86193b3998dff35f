import { expect, test } from "bun:test";
import fc from "fast-check";
import { writeMessage } from "../../../test/upstreams/bedrock/frames.ts";
import { FrameReader, type Frame } from "./frames.ts";

const chunk = (bytes: string) =>
  writeMessage({ ":event-type": "chunk", ":message-type": "event" }, { bytes });

function readAll(pieces: readonly Uint8Array[]): Frame[] {
  const reader = new FrameReader();
  const frames = pieces.flatMap((piece) => [...reader.push(piece)]);
  reader.end();
  return frames;
}

test("the messages of a stream are the same wherever its bytes are cut", () => {
  const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { maxLength: 6 });
  fc.assert(
    fc.property(texts, fc.array(fc.nat(400), { maxLength: 12 }), (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(chunk));
      const ends = [...cuts.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b), bytes.length];
      const frames = readAll(ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)));
      expect(frames.map(({ kind, name, payload }) => [kind, name, payload["bytes"]])).toEqual(
        sent.map((text) => ["event", "chunk", text]),
      );
    }),
  );
});

test("a changed bit anywhere is found, or the message never ends", () => {
  const bytes = chunk("abc");
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(7), (at, bit) => {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 1 << bit;
      expect(() => readAll([damaged])).toThrow();
    }),
  );
});

test("a message that says it is endless is refused at once", () => {
  const head = Buffer.alloc(16, 0xff);
  expect(() => [...new FrameReader().push(head)]).toThrow("another protocol");
});
