import { expect, test } from "bun:test";
import fc from "fast-check";
import { Base64Decoder, Base64Error, decodeBase64, readDataUrlHeader } from "./base64.ts";

function decodePieces(text: string, sizes: number[], skipsLineEnds = true): Buffer {
  const pieces: Uint8Array[] = [];
  const decoder = new Base64Decoder((bytes) => pieces.push(Uint8Array.from(bytes)), skipsLineEnds);
  const bytes = Buffer.from(text);
  let from = 0;
  for (let turn = 0; from < bytes.byteLength; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    decoder.write(bytes.subarray(from, from + size));
    from += size;
  }
  decoder.finish();
  return Buffer.concat(pieces);
}

const sizes = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 5 });

test("decodes any bytes from either alphabet, padded or not, in any pieces", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(400), sizes, (small, repeats, sizes) => {
      const bytes = Buffer.concat(Array.from({ length: repeats + 1 }, () => small));
      const padded = bytes.toString("base64");
      for (const text of [padded, padded.replace(/=+$/, ""), bytes.toString("base64url")]) {
        expect(decodePieces(text, sizes).equals(bytes)).toBe(true);
      }
      const lines = padded.replace(/.{76}/g, "$&\r\n");
      expect(decodePieces(lines, sizes).equals(bytes)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("refuses one invalid character anywhere", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 6, maxLength: 200 }),
      fc.nat(2000),
      fc.nat(),
      fc.constantFrom("!", "*", "%", "\0", "é", '"', ".", "\u0001"),
      (small, repeats, position, foreign) => {
        const text = Buffer.concat(Array.from({ length: repeats + 1 }, () => small)).toString("base64");
        const at = position % text.length;
        expect(decodeBase64(text.slice(0, at) + foreign + text.slice(at + 1))).toBeNull();
      },
    ),
    { numRuns: 200 },
  );
});

test.each([
  "A",
  "AAAAA",
  "AA=",
  "AAA==",
  "A===",
  "AAAA=",
  "AAAA==",
  "=",
  "AA==AA",
  "AA=A",
  "AA===",
  "AAAA====",
])("refuses bad length or padding: %s", (text) => {
  expect(decodeBase64(text)).toBeNull();
  const long = "A".repeat(65536) + text;
  expect(decodeBase64(long)).toBeNull();
});

test("checks padding at the end of a batch", () => {
  for (const rest of ["AA==", "AAA="]) {
    for (let before = 65_520; before <= 65_544; before += 4) {
      const bytes = decodePieces("A".repeat(before) + rest, [1000]);
      expect(bytes.byteLength).toBe((before / 4) * 3 + (rest === "AA==" ? 1 : 2));
      expect(() => decodePieces(`${"A".repeat(before)}${rest}A`, [1000])).toThrow(Base64Error);
    }
  }
});

test("refuses line ends unless they are allowed", () => {
  expect(() => decodePieces("AAAA\nAAAA", [9], false)).toThrow(Base64Error);
  expect(decodePieces("AAAA AAAA", [9], false).byteLength).toBe(6);
});

test.each([
  ["data:image/png;base64,AAAA", { mime: "image/png", length: 22 }],
  ["DATA:Image/PNG;name=a;BASE64,AAAA", { mime: "image/png", length: 29 }],
  ["data:;base64,AAAA", { mime: "", length: 13 }],
  ["data:image/png,AAAA", null],
  ["data:image/png;base64", null],
  ["https://x/;base64,", null],
] as const)("the header of %s is read", (text, expected) => {
  expect(readDataUrlHeader(text)).toEqual(expected);
});
