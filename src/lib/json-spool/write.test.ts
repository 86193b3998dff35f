import { expect, test } from "bun:test";
import { isStreamedObject, writeJson, type StreamedJson } from "../json-spool.ts";
import { SpooledString } from "./long-string.ts";
import { WatchedBlob } from "../../../test/support/pictures.ts";

async function written(value: StreamedJson): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of writeJson(value)) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces).toString();
}

function noise(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

test("JSON without handles equals the output of JSON.stringify", async () => {
  const value = { a: [1, null, true, "ü\n\u2028"], "": {}, b: { c: "" } };
  expect(await written(value)).toBe(JSON.stringify(value));
});

test("a key named __proto__ stays a key", async () => {
  const value: StreamedJson = JSON.parse('{"__proto__":{"a":1},"b":2}');
  expect(await written(value)).toBe('{"__proto__":{"a":1},"b":2}');
});

test.each([0, 1, 2, 3, 393_215, 393_216, 393_217, 900_001])(
  "a blob of %d bytes is one base64 string",
  async (length) => {
    const bytes = noise(length);
    const parsed = JSON.parse(await written({ data: new Blob([bytes]), after: 1 }));
    expect(parsed).toEqual({ data: Buffer.from(bytes).toString("base64"), after: 1 });
  },
);

test("a decoded string is written as base64, and a text unchanged", async () => {
  const bytes = noise(300_000);
  // The characters have three and four bytes. So slices of 192 KiB split some of them.
  const text = `\uFEFFa"\\\n\u0001${"€𝄞".repeat(150_000)}`;
  const value = [
    new SpooledString(new Blob([bytes]), bytes.byteLength, true, "image/png"),
    new SpooledString(new Blob([text]), Buffer.byteLength(text), false, undefined),
  ];
  expect(JSON.parse(await written(value))).toEqual([Buffer.from(bytes).toString("base64"), text]);
});

test.each([10, 393_216, 900_000])("a blob of %d bytes is whole after it was written", async (length) => {
  const bytes = noise(length);
  const blob = new Blob([bytes]);
  expect(await written([blob])).toBe(await written([blob]));
  expect(Buffer.from(await blob.bytes()).equals(bytes)).toBe(true);
  expect(Buffer.from(bytes).toString("base64")).toBe(JSON.parse(await written(blob)));
});

test("many handles keep their positions", async () => {
  const blobs = Array.from({ length: 1_200 }, (_, index) => new Blob([String(index)]));
  const parsed: string[] = JSON.parse(await written(blobs));
  expect(parsed.map((text) => Number(atob(text)))).toEqual(blobs.map((_, index) => index));
});

test("a blob is read slice by slice, as the reader takes the pieces", async () => {
  const blob = new WatchedBlob([noise(2_000_000)]);
  const pieces = writeJson({ data: blob });
  await pieces.next();
  await pieces.next();
  expect(blob.bytesRead).toBeLessThan(1_200_000);
  await pieces.return(undefined);
});

test("a blob that cannot be read fails the text", async () => {
  const gone = Bun.file("/nowhere/at/all");
  Object.defineProperty(gone, "size", { value: 10 });
  await expect(written([gone])).rejects.toThrow();
});

test("a handle is no object", () => {
  expect(isStreamedObject({})).toBe(true);
  const others = [new Blob([]), new SpooledString(new Blob([]), 0, true, undefined), [], null, "", undefined];
  expect(others.filter(isStreamedObject)).toEqual([]);
});
