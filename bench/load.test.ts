import { expect, test } from "bun:test";
import { exchange, wireRequest } from "./client-connection.ts";
import { startClosedLoop, startOpenLoop } from "./load.ts";
import { describeMachine } from "./machine.ts";

const get = (path: string) => wireRequest({ method: "GET", path });

function serve(handler: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: handler });
  return {
    address: { hostname: "127.0.0.1", port: server.port! },
    [Symbol.dispose]: () => server.stop(true),
  };
}

test("an exchange returns status, header and body, also when chunked", async () => {
  using server = serve(
    () => new Response(new Blob(["hello"]).stream(), { status: 201, headers: { "x-a": "1" } }),
  );
  const reply = await exchange(server.address, get("/"));
  expect([reply.status, reply.body]).toEqual([201, "hello"]);
  expect(reply.head.toLowerCase()).toContain("x-a: 1");
});

test("a closed loop keeps one request running on each connection", async () => {
  let atOnce = 0;
  let mostAtOnce = 0;
  using server = serve(async () => {
    mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    await Bun.sleep(1);
    atOnce--;
    return new Response("ok");
  });
  const load = await startClosedLoop({
    address: server.address,
    requests: [get("/")],
    expectedStatus: 200,
    connections: 4,
  });
  load.openWindow();
  await Bun.sleep(100);
  const tally = load.closeWindow();
  load.stop();
  expect(mostAtOnce).toBe(4);
  expect(tally.completed).toBeGreaterThan(4);
  expect(tally.failed).toBe(0);
  expect(tally.bodyBytes).toBe(2 * tally.completed);
});

/** Returns what a closed loop with one connection counts in a short window. */
async function tallyOf(respond: Parameters<typeof serve>[0]) {
  using server = serve(respond);
  const load = await startClosedLoop({
    address: server.address,
    requests: [get("/")],
    expectedStatus: 200,
    connections: 1,
  });
  load.openWindow();
  await Bun.sleep(50);
  const tally = load.closeWindow();
  load.stop();
  return tally;
}

test("a response with another status is a failure", async () => {
  const tally = await tallyOf(() => new Response("no", { status: 500 }));
  expect(tally.completed).toBe(0);
  expect(tally.failed).toBeGreaterThan(0);
});

test("a response without a body has no time to its first byte", async () => {
  let count = 0;
  const { completed, firstBytesMs } = await tallyOf(() => new Response(count++ % 2 === 0 ? null : "ok"));
  expect(firstBytesMs.length).toBeWithin(1, completed);
  expect(Math.min(...firstBytesMs)).toBeGreaterThan(0);
});

test("an open loop counts a stall for every request that it delayed", async () => {
  let hasStalled = false;
  using server = serve(async () => {
    if (hasStalled) return new Response("ok");
    hasStalled = true;
    await Bun.sleep(100);
    return new Response("late");
  });
  const load = await startOpenLoop({
    address: server.address,
    requests: [get("/")],
    expectedStatus: 200,
    machine: { ...describeMachine(), canPin: false },
    requestsPerSecond: 200,
    connections: 1,
  });
  load.openWindow();
  await Bun.sleep(500);
  const tally = load.closeWindow();
  load.stop();
  expect(tally.latenciesMs.filter((latency) => latency > 25).length).toBeGreaterThanOrEqual(10);
});
