import { describe, expect, test } from "bun:test";

import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { GatewayError } from "../../domain/gateway-error.ts";
import { plainCore } from "../../../test/support/plain-core.ts";
import { BodyLimits, readJsonBody, requireJson } from "./body.ts";

const MIB = 1024 * 1024;
const { principal } = plainCore({ model: { id: "m" } as Parameters<typeof plainCore>[0]["model"] });
const WORDS = '{"model":"m","text":"Grüße"}';

function request(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream | null,
  headers: Record<string, string> = {},
): Request {
  return new Request("http://gateway.test/", { method: "POST", body, headers });
}

function streamOf(...pieces: string[]): ReadableStream<Uint8Array> {
  const chunks = pieces.map((piece) => new TextEncoder().encode(piece));
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
}

const read = async (asked: Request, maxBytes = MIB) =>
  new TextDecoder().decode(
    await readJsonBody(
      { request: asked, principal, network: () => "192.0.2.1" },
      new BodyLimits(1_000),
      maxBytes,
    ),
  );

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof GatewayError ? error.code : String(error);
}

describe("a body", () => {
  test("is read with and without a length", async () => {
    const length = String(Buffer.byteLength(WORDS));
    expect(await read(request(WORDS, { "content-length": length }))).toBe(WORDS);
    expect(await read(request(streamOf(WORDS.slice(0, 5), WORDS.slice(5))))).toBe(WORDS);
    expect(await read(request(null))).toBe("");
  });

  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["GZIP", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["identity", Buffer.from],
  ])("in %s is decoded", async (encoding, encode: (text: string) => Buffer) => {
    expect(await read(request(new Uint8Array(encode(WORDS)), { "content-encoding": encoding }))).toBe(WORDS);
  });

  test("larger than allowed is refused, with or without a length, also when it is only so when decoded", async () => {
    const large = "x".repeat(2 * MIB);
    const told = request(large, { "content-length": String(large.length) });
    expect(await codeOf(read(told))).toBe("payload_too_large");
    expect(await codeOf(read(request(streamOf(large.slice(MIB), large.slice(MIB), "x"))))).toBe(
      "payload_too_large",
    );
    const folded = request(new Uint8Array(gzipSync(large)), { "content-encoding": "gzip" });
    expect(await codeOf(read(folded))).toBe("payload_too_large");
  });

  test("of exactly the maximum size is accepted", async () => {
    expect(await read(request("12345"), 5)).toBe("12345");
    expect(await codeOf(read(request("123456"), 5))).toBe("payload_too_large");
  });

  test("in tiny chunks is read up to a number of them, and then refused", async () => {
    const tiny = (count: number) => request(streamOf(...Array.from({ length: count }, () => " ")));
    expect(await read(tiny(8_192))).toBe(" ".repeat(8_192));
    expect(await codeOf(read(tiny(8_193)))).toBe("invalid_request_body");
    const large = request(streamOf(...Array.from({ length: 9_000 }, () => " ".repeat(512))));
    expect(await read(large, 8 * MIB)).toHaveLength(9_000 * 512);
  });

  test("is unchanged after chunks of all sizes were joined", async () => {
    const sizes = Array.from({ length: 4_000 }, (_, index) => (index % 11 === 0 ? 4_000 : index % 512));
    const pieces = sizes.map((size, index) => String.fromCharCode(97 + (index % 26)).repeat(size));
    expect(await read(request(streamOf(...pieces)), 4 * MIB)).toBe(pieces.join(""));
  });

  test("that is larger than allowed before it is decoded is refused", async () => {
    const empty = gzipSync("");
    const members = new Uint8Array(Buffer.concat(Array.from({ length: 2_000 }, () => empty)));
    const headers = { "content-encoding": "gzip" };
    expect(await read(request(members, headers), members.length)).toBe("");
    expect(await codeOf(read(request(members, headers), members.length - 1))).toBe("payload_too_large");
  });

  test("that does not match its encoding, or has an unknown one, is refused", async () => {
    expect(await codeOf(read(request(WORDS, { "content-encoding": "gzip" })))).toBe("invalid_request_body");
    for (const encoding of ["compress", "gzip, br", "__proto__"]) {
      expect(await codeOf(read(request(WORDS, { "content-encoding": encoding })))).toBe(
        "unsupported_media_type",
      );
    }
  });
});

describe("a content type", () => {
  test.each([
    null,
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json; charset=utf8",
    "application/json; profile=x",
  ])("%p is JSON", (type) => {
    expect(() => requireJson(type)).not.toThrow();
  });

  test.each([
    "",
    "text/plain",
    "application/jsonl",
    "multipart/form-data; boundary=x",
    "application/json; charset=latin1",
  ])("%p is refused", (type) => {
    expect(() => requireJson(type)).toThrow(expect.objectContaining({ code: "unsupported_media_type" }));
  });
});
