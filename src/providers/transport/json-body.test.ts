import { expect, test } from "bun:test";
import { writeJsonBody, type JsonBody } from "./json-body.ts";

async function read({ body }: JsonBody): Promise<Buffer> {
  if (typeof body === "string") return Buffer.from(body);
  // A piece is valid until the next piece is requested.
  return Buffer.concat(await Array.fromAsync(body, (piece) => Uint8Array.from(piece)));
}

test.each([0, 1, 2, 3, 786_431, 786_432, 786_433, 2_000_001])(
  "%i bytes are sent as their base64 with a known length",
  async (size) => {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.min(size, 65_536)));
    const blob = new Blob(Array.from({ length: Math.ceil(size / 65_536) }, () => bytes)).slice(0, size);
    const written = writeJsonBody((base64) => ({ before: 'é"', data: base64(blob), after: [1] }));
    const sent = await read(written);
    expect(sent.byteLength).toBe(written.byteLength);
    const { before, data, after } = JSON.parse(sent.toString("utf8"));
    expect([before, after]).toEqual(['é"', [1]]);
    expect(Buffer.from(data, "base64").equals(Buffer.from(await blob.arrayBuffer()))).toBeTrue();
  },
);

test("several blobs keep their positions, also inside longer strings", async () => {
  const blobs = ["one", "two", "three"].map((text) => new Blob([text]));
  const urls = (base64: (blob: Blob) => string) =>
    blobs.map((blob) => `data:text/plain;base64,${base64(blob)}`);
  const sent = await read(writeJsonBody((base64) => ({ urls: urls(base64).toReversed() })));
  const { urls: read3 } = JSON.parse(sent.toString("utf8"));
  expect(read3.map((url: string) => atob(url.slice(url.indexOf(",") + 1)))).toEqual(["three", "two", "one"]);
});

test("a body without blobs is one text", () => {
  expect(writeJsonBody(() => ({ prompt: "ü" }))).toEqual({ byteLength: 15, body: '{"prompt":"ü"}' });
});
