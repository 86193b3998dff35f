/**
 * The baseline server (floor) `static-reply` responds to each path with fixed bytes. The file contains JSON of the form
 * `{path: {status, body}}`. Usage: `bun bench/static-reply.ts <file>`.
 */
export type StaticReplies = Record<string, { status: number; body: string }>;

const replies: StaticReplies = await Bun.file(process.argv[2] ?? "").json();
const headers = { "content-type": "application/json" };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const path = request.url.slice(request.url.indexOf("/", "http://".length));
    const reply = replies[path];
    return new Response(reply?.body, { status: reply?.status ?? 404, headers });
  },
});

console.log(`listening ${server.port}`);
