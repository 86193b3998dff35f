/**
 * The telemetry collector of W13 accepts OTLP over HTTP with protobuf and counts spans. `GET /spans` returns the count.
 * Usage: `bun bench/otlp-sink.ts`.
 */

/** An attribute that each span of a call to a vendor has once. */
const OF_CALL = Buffer.from("gateway.channel");
/** An attribute that each span of a request has once. */
const OF_REQUEST = Buffer.from("gateway.request.id");

let spans = 0;

const collector = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.method === "GET") return new Response(String(spans));
    const body = Buffer.from(await request.bytes());
    spans += count(body, OF_CALL) + count(body, OF_REQUEST);
    return new Response(null, { headers: { "content-type": "application/x-protobuf" } });
  },
});

console.log(`listening ${collector.port}`);

function count(body: Buffer, text: Buffer): number {
  let found = 0;
  for (let at = body.indexOf(text); at >= 0; at = body.indexOf(text, at + text.length)) found += 1;
  return found;
}
