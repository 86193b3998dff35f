import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { testSpool } from "../../../test/support/spool.ts";
import { ExtractedJson } from "./extracted-json.ts";

const LONG = Buffer.from(Array.from({ length: 90_000 }, (_, index) => (index * 31) & 255));

async function read(
  text: string,
  cuts: readonly number[],
): Promise<{ skeleton: string; json: ExtractedJson }> {
  const bytes = Buffer.from(text);
  const json = new ExtractedJson(testSpool);
  let from = 0;
  for (const cut of [...cuts, bytes.byteLength].sort((a, b) => a - b)) {
    const to = Math.min(cut, bytes.byteLength);
    await json.write(bytes.subarray(from, to));
    from = to;
  }
  return { skeleton: json.finish(), json };
}

describe("an answer with images in base64", () => {
  const text = JSON.stringify({ created: 1, data: [{ b64_json: LONG.toString("base64") }], quality: 'a"\\' });

  test("gives the images decoded and the rest unchanged, wherever the pieces end", async () => {
    const near = [0, 1, 2, 3, 4, 5, 8, 64 * 1024 + 30, 64 * 1024 + 31, text.length - 20, text.length - 3];
    const place = fc.oneof(fc.constantFrom(...near), fc.nat(text.length));
    await fc.assert(
      fc.asyncProperty(fc.array(place, { maxLength: 6 }), async (cuts) => {
        const { skeleton, json } = await read(text, cuts);
        const response = JSON.parse(skeleton);
        const image = json.extracted(response.data[0].b64_json);
        expect(Buffer.from(await image!.bytes()).equals(LONG)).toBe(true);
        expect(response).toMatchObject({ created: 1, quality: 'a"\\' });
        expect(skeleton.length).toBeLessThan(200);
      }),
      { numRuns: 100 },
    );
  });

  test("is understood with escaped slashes, wherever the pieces end", async () => {
    const escaped = text.replaceAll("/", "\\/");
    const at = escaped.indexOf("\\/", 100_000);
    for (const cut of [at, at + 1, at + 2]) {
      const { skeleton, json } = await read(escaped, [cut]);
      const image = json.extracted(JSON.parse(skeleton).data[0].b64_json);
      expect(Buffer.from(await image!.bytes()).equals(LONG)).toBe(true);
    }
  });

  test("keeps any JSON without long strings as it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.array(fc.nat(60), { maxLength: 4 }), async (text, cuts) => {
        expect((await read(text, cuts)).skeleton).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test("takes no text of the vendor's for an image", async () => {
    const { skeleton, json } = await read('{"data":[{"b64_json":"lifted:0"}]}', []);
    expect(json.extracted(JSON.parse(skeleton).data[0].b64_json)).toBeUndefined();
  });

  test.each([
    ["a long string that is no base64", `{"data":"${"*".repeat(100_000)}"}`],
    ["an end inside a long string", `{"data":"${"A".repeat(100_000)}`],
    ["an end inside a short string", '{"data":"AAAA'],
    ["nothing at all", ""],
    ["far too much outside of strings", " ".repeat(5 * 1024 * 1024)],
  ])("is broken with %s", async (_, text) => {
    await expect(read(text, [1000])).rejects.toThrow();
  });
});
