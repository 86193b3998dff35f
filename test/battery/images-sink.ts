/**
 * A vendor of family A for memory tests, in a separate process. Received bytes are only counted, and all pictures of
 * one size come from one buffer. In a prompt, `[[base64=20000000]]` sets the characters of each base64 picture, and
 * `[[cut]]` omits the second half of the response. Prints `listening <port>`.
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

/** Returns a complete response with one PNG. The PNG becomes large by a chunk that readers ignore. */
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
