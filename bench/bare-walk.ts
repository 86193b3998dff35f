/**
 * The baseline server (floor) for failover sends a request to one address after another until a response is a success.
 * Usage: `bun bench/bare-walk.ts <times> <failing address> <working address>`.
 */
const [times = "0", failing = "", working = ""] = process.argv.slice(2);
const upstreams = [...Array.from({ length: Number(times) }, () => failing), working];

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const path = request.url.slice(request.url.indexOf("/", "http://".length));
    const body = await request.arrayBuffer();
    for (const upstream of upstreams) {
      const reply = await fetch(`${upstream}${path}`, { method: "POST", body, proxy: false });
      const bytes = await reply.arrayBuffer();
      if (reply.ok) return new Response(bytes, { headers: { "content-type": "application/json" } });
    }
    return new Response(null, { status: 502 });
  },
});

console.log(`listening ${server.port}`);
