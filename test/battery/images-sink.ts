/**
 * A vendor of family A for memory tests, as its own process: it counts and discards what it receives and sends pictures
 * from one buffer. The prompt sets the bytes of base64 of each picture, `[[base64=20000000]]`; with `[[cut]]` the
 * second half of the response is missing. Prints `listening <port>`.
 */
import { makePng, pngChunk } from "../support/pictures.ts";

const SMALL = makePng(16, 16);
const MARKED_BYTES = 64 * 1024;
const bodies = new Map<number, Uint8Array<ArrayBuffer>>();

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  maxRequestBodySize: 2 ** 31,
  async fetch(request) {
    let received = 0;
    let beginning = "";
    for await (const piece of request.body ?? []) {
      received += piece.byteLength;
      if (beginning.length < MARKED_BYTES) beginning += Buffer.from(piece).toString("latin1");
    }
    const characters = Number(/\[\[base64=(\d+)\]\]/.exec(beginning)?.[1] ?? 0);
    const body = bodies.get(characters) ?? replyOf(characters);
    bodies.set(characters, body);
    const sent = beginning.includes("[[cut]]") ? body.subarray(0, body.byteLength / 2) : body;
    return new Response(sent, {
      headers: { "content-type": "application/json", "x-received-bytes": String(received) },
    });
  },
});

console.log(`listening ${server.port}`);

/** A complete response with one picture, a PNG made large by a chunk that readers ignore. */
function replyOf(characters: number): Uint8Array<ArrayBuffer> {
  const padding = Math.floor(characters / 4) * 3 - SMALL.byteLength - 12;
  const picture = padding > 0 ? withPadding(padding) : SMALL;
  const head =
    '{"created":1790000000,"size":"16x16","quality":"low","output_format":"png","background":"opaque",';
  return Buffer.from(`${head}"data":[{"b64_json":"${picture.toString("base64")}"}]}`);
}

function withPadding(byteLength: number): Buffer {
  const noise = crypto.getRandomValues(new Uint8Array(65_536));
  const chunk = pngChunk("teSt", Buffer.alloc(byteLength, noise));
  return Buffer.concat([SMALL.subarray(0, -12), chunk, SMALL.subarray(-12)]);
}
