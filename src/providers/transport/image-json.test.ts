import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { testSpool } from "../../../test/support/spool.ts";
import { SpooledString, type StreamedObject } from "../../lib/json-spool.ts";
import { imageOf, readImageJson } from "./image-json.ts";

const LONG = Buffer.from(Array.from({ length: 90_000 }, (_, index) => (index * 31) & 255));

function read(text: string, cuts: readonly number[]): Promise<StreamedObject> {
  const bytes = Buffer.from(text);
  const ends = [...cuts, bytes.byteLength].toSorted((one, other) => one - other);
  const pieces = ends.map((end, index) => new Uint8Array(bytes.subarray(ends[index - 1] ?? 0, end)));
  const response = new Response(new Blob(pieces).stream());
  return readImageJson(response, testSpool, new AbortController().signal);
}

function firstImage({ data }: StreamedObject): Blob {
  const [item] = data as [StreamedObject];
  return imageOf(item["b64_json"])!;
}

describe("a response with images in base64", () => {
  const text = JSON.stringify({ created: 1, data: [{ b64_json: LONG.toString("base64") }], quality: 'a"\\' });

  test("gives the images decoded and the rest unchanged, wherever the pieces end", async () => {
    const near = [0, 1, 2, 3, 4, 5, 8, 64 * 1024 + 30, 64 * 1024 + 31, text.length - 20, text.length - 3];
    const position = fc.oneof(fc.constantFrom(...near), fc.nat(text.length));
    await fc.assert(
      fc.asyncProperty(fc.array(position, { maxLength: 6 }), async (cuts) => {
        const response = await read(text, cuts);
        expect(Buffer.from(await firstImage(response).bytes()).equals(LONG)).toBe(true);
        expect(response).toMatchObject({ created: 1, quality: 'a"\\' });
      }),
      { numRuns: 100 },
    );
  });

  test("may escape slashes, wherever the pieces end", async () => {
    const escaped = text.replaceAll("/", "\\/");
    const at = escaped.indexOf("\\/", 100_000);
    for (const cut of [at, at + 1, at + 2])
      expect(Buffer.from(await firstImage(await read(escaped, [cut])).bytes()).equals(LONG)).toBe(true);
  });

  test("keeps everything else as it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(60), async (value, cut) => {
        const json = JSON.stringify(value);
        expect(JSON.stringify(await read(json, [Math.min(cut, json.length)]))).toBe(
          JSON.stringify(JSON.parse(json)),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("keeps a long text as text where no image belongs", async () => {
    const signature = LONG.toString("base64url");
    const { thoughtSignature } = await read(JSON.stringify({ thoughtSignature: signature }), []);
    expect(thoughtSignature).toBeInstanceOf(SpooledString);
    expect(await (thoughtSignature as SpooledString).blob.text()).toBe(signature);
  });

  test.each([
    ["a long image that is no base64", `{"data":[{"b64_json":"${"*".repeat(100_000)}"}]}`],
    ["a short image that is no base64", '{"data":[{"b64_json":"*"}]}'],
    ["an end inside a long string", `{"data":[{"b64_json":"${"A".repeat(100_000)}`],
    ["an end inside a short string", '{"data":[{"b64_json":"AAAA'],
    ["nothing at all", ""],
    ["a list in place of an object", "[]"],
    ["far too much outside of strings", " ".repeat(5 * 1024 * 1024)],
  ])("is broken with %s", async (_, text) => {
    // `rejects` is not used here, because it waits in the runtime's own loop, where one turn of the event loop may take
    // a second.
    const failure = await read(text, [])
      .then(firstImage)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "broken" });
  });
});
