/**
 * The telemetry collector of W13 accepts OTLP over HTTP with JSON and counts spans. `GET /spans` returns the count.
 * Usage: `bun bench/otlp-sink.ts`.
 */
let spans = 0;

const collector = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.method === "GET") return new Response(String(spans));
    const body = await request.text();
    spans += body.split('"spanId":').length - 1;
    return Response.json({});
  },
});

console.log(`listening ${collector.port}`);
