/**
 * The baseline server (floor) `bare-bun` shows how much processor time the runtime itself needs to forward a request
 * and a response. Several processes can share a port. Usage: `bun bench/bare-bun.ts <upstream origin> [port]`.
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
