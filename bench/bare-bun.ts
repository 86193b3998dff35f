/**
 * The baseline server (floor) `bare-bun`. It shows how much the runtime itself needs to forward a request and its
 * response. Started as `bun bench/bare-bun.ts <upstream origin> [port]`; several processes can share a port.
 */
export const upstream = process.argv[2];

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[3] ?? 0),
  reusePort: true,
  idleTimeout: 0,
  maxRequestBodySize: 2 ** 31,
  async fetch(request) {
    const reply = await fetch(`${upstream}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer bench-upstream" },
      body: request.body,
    });
    return new Response(reply.body, {
      status: reply.status,
      headers: { "content-type": reply.headers.get("content-type") ?? "application/json" },
    });
  },
});

console.log(`listening ${server.port}`);
