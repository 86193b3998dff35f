import { expect, test } from "bun:test";
import { headerOf, MessageReader } from "./http-message.ts";

function readAll(pieces: Buffer[]): { head: string; body: string }[] {
  const messages: { head: string; body: string }[] = [];
  let head = "";
  let body = "";
  const reader = new MessageReader({
    head: (text) => void ((head = text), (body = "")),
    body: (bytes, start, end) => void (body += bytes.toString("latin1", start, end)),
    end: () => void messages.push({ head, body }),
  });
  for (const piece of pieces) reader.push(piece);
  return messages;
}

const wire = Buffer.from(
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" +
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;note=1\r\nab\r\n\r\n1\r\nc\r\n0\r\nx-trailer: 1\r\n\r\n" +
    "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n" +
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
);
const expected = ["hello", "ab\r\nc", "", ""];

test("messages of every framing are parsed from one piece", () => {
  expect(readAll([wire]).map((message) => message.body)).toEqual(expected);
});

test("messages are parsed the same when split at any byte", () => {
  for (let cut = 1; cut < wire.length; cut++) {
    expect(readAll([wire.subarray(0, cut), wire.subarray(cut)]).map((message) => message.body)).toEqual(
      expected,
    );
  }
  const single = Array.from(wire, (byte) => Buffer.from([byte]));
  expect(readAll(single).map((message) => message.body)).toEqual(expected);
});

test("a chunk without a size is refused", () => {
  expect(() =>
    readAll([Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")]),
  ).toThrow();
});

test("a header is found in any letter case, by its full name only", () => {
  const head = "HTTP/1.1 200 OK\r\nX-Content-Length: 9\r\nCONTENT-LENGTH:  7 \r\nA: b";
  expect(headerOf(head, "content-length")).toBe("7");
  expect(headerOf(head, "a")).toBe("b");
  expect(headerOf(head, "length")).toBeUndefined();
});
