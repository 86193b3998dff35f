/**
 * The baseline server (floor) `bare-buffer`. A message is read completely before it is forwarded. Every proxy that
 * inspects bodies must do at least this work. Started as `bun bench/bare-buffer.ts <upstream origin>`.
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
