/**
 * The baseline server (floor) `bare-buffer` reads a message completely before forwarding that message. A proxy that
 * inspects bodies cannot do less work. Usage: `bun bench/bare-buffer.ts <upstream origin>`.
 */
export const upstream = process.argv[2];

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const reply = await fetch(`${upstream}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer bench-upstream" },
      body: await request.bytes(),
    });
    return new Response(await reply.bytes(), {
      status: reply.status,
      headers: { "content-type": reply.headers.get("content-type") ?? "application/json" },
    });
  },
});

console.log(`listening ${server.port}`);
