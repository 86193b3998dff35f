import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { beginUpload, type UnfinishedUpload } from "../support/unfinished-upload.ts";
import { readError } from "../support/vendor.ts";

/* Limits on memory, decoders and chunks for the bodies of one key. Most of these bodies are unfinished. */

const MIB = 1024 * 1024;
const CHAT = "/v1/chat/completions";
const FORM = "multipart/form-data; boundary=b";
const PART_HEADER = `--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n\r\n`;
/** Compressed bytes that decode to nothing. */
const EMPTY_MEMBERS = Buffer.alloc(1_000_000, gzipSync(""));
const HELLO = { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] };

let gateway: TestGateway;
let otherKey: string;
let uploads: UnfinishedUpload[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: "server: { body_grace_seconds: 1 }" });
  otherKey = /gk_\w+/.exec(await gateway.cli("keys", "create", "--name", "other"))?.[0] ?? "";
  await until("the key to be known", async () => ((await status(otherKey)) === 200 ? true : undefined));
});

afterAll(() => gateway[Symbol.asyncDispose]());

beforeEach(() => {
  uploads = [];
});

afterEach(async () => {
  for (const { socket } of uploads) socket.destroy();
  await until("the bodies to be dropped", async () =>
    (await status(gateway.key)) === 200 ? true : undefined,
  );
});

test("a body that arrives below the lowest speed is refused and its connection closed", async () => {
  const slow = [
    await begin(CHAT, { "content-length": "20000" }),
    await begin(CHAT, { "content-length": String(20 * MIB) }),
    await begin(CHAT, { "transfer-encoding": "chunked" }),
    await begin("/v1/images/generations", { "content-length": String(20 * MIB) }),
  ];
  const honest = await begin(CHAT, { "content-length": "100000" });
  const body = JSON.stringify(HELLO).padEnd(100_000);
  for (let tick = 0; tick < 50; tick += 1) {
    for (const { socket } of slow)
      if (!socket.destroyed) socket.write(socket === slow[2]?.socket ? "1\r\n \r\n" : "  ");
    honest.socket.write(body.slice(tick * 2_000, (tick + 1) * 2_000));
    await Bun.sleep(50);
  }
  expect((await honest.response()).slice(0, 12)).toBe("HTTP/1.1 200");
  for (const upload of slow) {
    const response = await upload.ended();
    expect(response.slice(0, 12)).toBe("HTTP/1.1 400");
    expect(response).toContain("The body arrived too slowly");
  }
}, 20_000);

test.each([
  ["chat", CHAT, {}, `{"user":"`],
  ["compressed", CHAT, { "content-encoding": "gzip" }, EMPTY_MEMBERS],
  ["a picture of a form", "/v1/images/edits", { "content-type": FORM }, PART_HEADER],
  ["signing in", "/admin/v1/session", { authorization: "" }, ""],
])("a body in chunks of one byte is refused before its end: %s", async (_, path, headers, start) => {
  const upload = await begin(path, { ...headers, "transfer-encoding": "chunked" });
  const bytes = Buffer.alloc(10_000, " ");
  bytes.set(Buffer.from(start).subarray(0, bytes.length));
  await upload.write(chunksOf(bytes, 1));
  const response = await upload.ended();
  expect(response).toStartWith("HTTP/1.1 400");
  expect(response).toContain("in larger chunks: at most 8192 may have fewer than 512 bytes");
});

test("a body that is written value by value is served", async () => {
  const body = { ...HELLO, metadata: { values: Array.from({ length: 8_000 }, () => 7) } };
  const upload = await begin(CHAT, { "transfer-encoding": "chunked" });
  await upload.write(
    Buffer.concat([chunksOf(Buffer.from(JSON.stringify(body)), 2), Buffer.from("0\r\n\r\n")]),
  );
  expect(await upload.response()).toStartWith("HTTP/1.1 200");
});

test("a compressed body is also bounded before it is decoded", async () => {
  const upload = await begin(CHAT, { "transfer-encoding": "chunked", "content-encoding": "gzip" });
  for (let sent = 0; sent <= 32 * MIB; sent += EMPTY_MEMBERS.length)
    await upload.write(chunksOf(EMPTY_MEMBERS, EMPTY_MEMBERS.length));
  expect(await upload.response()).toStartWith("HTTP/1.1 413");
}, 20_000);

test("unfinished bodies of one key are bounded by the bytes that they declare", async () => {
  const headers = { "content-length": String(31 * MIB) };
  for (let count = 0; count < 4; count += 1) await begin(CHAT, headers);
  const refused = await until("a refusal", async () => {
    const response = await (await begin(CHAT, headers)).response();
    return response === "" ? undefined : response;
  });
  expect(refused).toStartWith("HTTP/1.1 429");
  expect(refused).toMatch(/\r\nretry-after: \d+\r\n/i);
  expect(refused).toContain("rate_limit_exceeded");
  expect(await status(gateway.key)).toBe(200);
  expect(await status(otherKey)).toBe(200);
}, 20_000);

test("a zstd frame with a window over 8 MiB is refused before it occupies memory", async () => {
  const before = gateway.resources();
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  const part = Buffer.from('--b\r\ncontent-disposition: form-data; name="image"; filename="f"\r\n\r\n');
  const form = Array.from({ length: 4 }, () => [part, Buffer.alloc(34 * MIB), Buffer.from("\r\n")]).flat();
  const frame = zstdCompressSync(Buffer.concat(form), { params });
  const headers = {
    "content-type": "multipart/form-data; boundary=b",
    "content-encoding": "zstd",
    "content-length": String(frame.length),
  };
  for (let count = 0; count < 6; count += 1) {
    const upload = await begin("/v1/images/edits", headers);
    await upload.write(frame.subarray(0, -8));
    expect((await upload.response()).slice(0, 12)).toBe("HTTP/1.1 400");
  }
  expect(gateway.resources().peakMb / before.peakMb).toBeLessThan(1.4);
}, 20_000);

test("decoders of one key are bounded, and others keep theirs", async () => {
  const frame = zstdCompressSync(JSON.stringify(HELLO));
  const headers = {
    "content-type": "application/json",
    "content-encoding": "zstd",
    "content-length": String(frame.length),
  };
  const send = (key: string) =>
    gateway.call(CHAT, { headers: { ...headers, authorization: `Bearer ${key}` }, body: frame });
  await until("a refusal", async () => {
    // Each try begins the uploads again, because a busy gateway may have refused some for other reasons.
    for (let count = 0; count < 16; count += 1)
      await (await begin(CHAT, headers)).write(frame.subarray(0, 8));
    return (await send(gateway.key)).status === 429 ? true : undefined;
  });
  expect((await send(otherKey)).status).toBe(200);
}, 20_000);

test("a body with more names than are quick to parse is refused", async () => {
  const send = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => [`${index * 65_536}`, 1]);
    return gateway.call(CHAT, { body: { ...HELLO, metadata: Object.fromEntries(names) } });
  };
  expect((await send(45_000)).status).toBe(200);
  const refused = await send(499_000);
  expect(refused.status).toBe(400);
  expect(await readError(refused)).toMatchObject({
    code: "invalid_request_body",
    message: "The request body has more than 50000 names.",
  });
}, 20_000);

function chunksOf(bytes: Buffer, size: number): Buffer {
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
  const pieces = starts.map((start) => bytes.subarray(start, start + size));
  const line = Buffer.from("\r\n");
  return Buffer.concat(
    pieces.flatMap((piece) => [Buffer.from(piece.length.toString(16)), line, piece, line]),
  );
}

/** Sends the headers of a request with the gateway's default key. */
async function begin(path: string, headers: Record<string, string>): Promise<UnfinishedUpload> {
  const authorization = `Bearer ${gateway.key}`;
  const upload = await beginUpload(gateway.url, path, { authorization, ...headers });
  uploads.push(upload);
  return upload;
}

async function status(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return (await gateway.call(CHAT, { headers, body: HELLO })).status;
}
