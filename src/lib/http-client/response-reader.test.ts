import { describe, expect, test } from "bun:test";
import { HttpError } from "./http-error.ts";
import { ResponseReader } from "./response-reader.ts";

interface Read {
  status: number;
  type: string | null;
  body: string;
  /** Null until the response has ended. */
  isReusable: boolean | null;
}

/** Reads a response that comes in pieces. With `isClosed` the connection ends after these pieces. */
function read(pieces: readonly Buffer[], isClosed = false): Read {
  const seen: Read = { status: 0, type: null, body: "", isReusable: null };
  const reader = new ResponseReader({
    head: ({ status, headers }) => Object.assign(seen, { status, type: headers.get("content-type") }),
    body: (piece) => void (seen.body += piece.toString("latin1")),
    end: (isReusable) => void (seen.isReusable = isReusable),
  });
  for (const piece of pieces) reader.push(piece);
  if (isClosed) reader.close();
  return seen;
}

function kindOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof HttpError) return error.kind;
  }
  return "none";
}

const OK = "HTTP/1.1 200 OK\r\n";
const whole = (text: string) => [Buffer.from(text, "latin1")];

describe("a response is read the same wherever it is cut", () => {
  test.each<[string, string, Partial<Read>, boolean?]>([
    [
      "a length",
      `${OK}Content-Type:  a/b \r\nCONTENT-LENGTH: 5\r\n\r\nhello`,
      { type: "a/b", body: "hello", isReusable: true },
    ],
    ["no body", "HTTP/1.1 204 No Content\r\n\r\n", { status: 204, body: "", isReusable: true }],
    ["length zero", `${OK}content-length: 0\r\n\r\n`, { body: "", isReusable: true }],
    [
      "chunks with extensions and trailers",
      `${OK}transfer-encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\nA \r\n0123456789\r\n0\r\nx-sum: 1\r\n\r\n`,
      { body: "hello0123456789", isReusable: true },
    ],
    ["no chunk", `${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`, { body: "", isReusable: true }],
    ["until the close", `${OK}\r\nhello`, { body: "hello", isReusable: false }, true],
    [
      "interim responses",
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}content-length: 1\r\n\r\nx`,
      { status: 200, body: "x", isReusable: true },
    ],
    [
      "the last of a connection",
      `${OK}connection: Close\r\ncontent-length: 1\r\n\r\nx`,
      { isReusable: false },
    ],
    ["HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx", { isReusable: false }],
    [
      "HTTP/1.0 that stays",
      "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\nx",
      { isReusable: true },
    ],
    [
      "a server's failure, which may have come unasked",
      "HTTP/1.1 503 Busy\r\ncontent-length: 1\r\n\r\nx",
      { status: 503, isReusable: false },
    ],
    [
      "a timeout, which may have come unasked",
      "HTTP/1.1 408 Late\r\ncontent-length: 0\r\n\r\n",
      { status: 408, isReusable: false },
    ],
    ["a refusal", "HTTP/1.1 429 Slow\r\ncontent-length: 0\r\n\r\n", { status: 429, isReusable: true }],
    ["no reason", "HTTP/1.1 429\r\ncontent-length: 1\r\n\r\nx", { status: 429, body: "x" }],
  ])("%s", (_name, text, expected, isClosed = false) => {
    const [bytes] = whole(text);
    for (let size = 1; size <= bytes!.length; size++) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes!.length; at += size) pieces.push(bytes!.subarray(at, at + size));
      expect(read(pieces, isClosed)).toMatchObject({ status: 200, ...expected });
    }
  });
});

test.each([
  ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
  ["another version", "HTTP/2 200 OK\r\n\r\n"],
  ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a field without a name", `${OK}: x\r\n\r\n`],
  ["a space before the colon", `${OK}content-length : 1\r\n\r\nx`],
  ["a field on two lines", `${OK}a: b\r\n c\r\n\r\n`],
  ["a lone line feed", `${OK}a: b\nc: d\r\n\r\n`],
  ["NUL in a field", `${OK}a: b\0\r\n\r\n`],
  ["a length and chunks", `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\nx`],
  ["two lengths", `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nx`],
  ["a negative length", `${OK}content-length: -1\r\n\r\n`],
  ["a length too large to count", `${OK}content-length: 9999999999999999\r\n\r\n`],
  ["an unknown transfer coding", `${OK}transfer-encoding: gzip, chunked\r\n\r\n`],
  ["no chunk size", `${OK}transfer-encoding: chunked\r\n\r\nx\r\n`],
  ["a chunk size that ends with a lone line feed", `${OK}transfer-encoding: chunked\r\n\r\n1\nx\r\n`],
  ["a chunk size too large to count", `${OK}transfer-encoding: chunked\r\n\r\n${"f".repeat(13)}\r\n`],
  ["a chunk that does not match its size", `${OK}transfer-encoding: chunked\r\n\r\n1\r\nxy\r\n`],
  ["bytes after its end", `${OK}content-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n`],
  ["a head without an end", `${OK}a: ${"x".repeat(65_536)}`],
  ["a chunk size without an end", `${OK}transfer-encoding: chunked\r\n\r\n1;${"x".repeat(8_192)}`],
  ["a head of bare line feeds, before its end", "HTTP/1.1 200 OK\ncontent-length: 1\n\nx"],
  ["endless interim responses", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(17)],
  ["endless trailers", `${OK}transfer-encoding: chunked\r\n\r\n0\r\n${"a: b\r\n".repeat(8_192)}`],
])("%s is invalid", (_name, text) => {
  expect(kindOf(() => read(whole(text)))).toBe("invalid");
});

test.each([
  ["before the head", "HTTP/1.1 200"],
  ["inside of the body", `${OK}content-length: 2\r\n\r\nx`],
  ["inside of a chunk", `${OK}transfer-encoding: chunked\r\n\r\n2\r\nx`],
  ["before the last chunk", `${OK}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n`],
])("a connection that ends %s cuts the response", (_name, text) => {
  expect(kindOf(() => read(whole(text), true))).toBe("closed");
});

test("fields of one name are joined, and found under lower-case names only as whole names", () => {
  new ResponseReader({
    head: ({ headers }) => {
      expect(headers.get("vary")).toBe("a, b");
      expect(headers.get("id")).toBeNull();
      expect(headers.has("x-id")).toBe(true);
    },
    body: () => {},
    end: () => {},
  }).push(Buffer.from(`${OK}Vary: a\r\nX-Id: 7\r\nVARY:b\r\ncontent-length: 0\r\n\r\n`));
});

test("small chunks that come together are one piece, in their order beside large ones", () => {
  const pieces: string[] = [];
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const large = "l".repeat(4_096);
  new ResponseReader({
    head: () => {},
    body: (piece) => void pieces.push(piece.toString("latin1")),
    end: () => {},
  }).push(
    Buffer.from(
      `${OK}transfer-encoding: chunked\r\n\r\n${chunk("a").repeat(500)}${chunk(large)}${chunk("b").repeat(500)}0\r\n\r\n`,
    ),
  );
  expect(pieces).toEqual(["a".repeat(500), large, "b".repeat(500)]);
});
