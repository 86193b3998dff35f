import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { SECOND_SIGNAL_MS, until } from "../support/gateway.ts";
import { killRounds, seeded } from "../support/kill-rounds.ts";
import { CHAT, IMAGE, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

/* A client loses nothing that it has received when a gateway is stopped, started or killed. */
const KILLS = 4;

/** This gateway's stream runs beside the other tests, because a keep-alive comment comes late. */
let quiet: GatewayFixture;
let silence: Promise<string>;
beforeAll(async () => {
  quiet = await openGatewayFixture({ firstByteMs: 60_000, idleMs: 60_000 });
  quiet.vendor.next({ tokens: 3, fault: "stall-midway", after: 3 });
  silence = readUntilComment(quiet);
});
afterAll(() => quiet[Symbol.asyncDispose]());

test("key, ledger and picture survive a restart", async () => {
  await using fixture = await openGatewayFixture({ env: { PUBLIC_URL: "http://gateway.example" } });
  const { gateway } = fixture;
  const response = await gateway.call("/v1/images/generations", { body: { model: IMAGE, prompt: "A pier" } });
  const { data } = (await response.json()) as { data: { url: string }[] };
  const { pathname, search } = new URL(data[0]!.url);
  const bytes = await (await fetch(gateway.url + pathname + search)).bytes();
  const made = JSON.parse(await gateway.cli("keys", "create", "--name", "second", "--json"));
  expect(await gateway.stop()).toBe(0);
  const ledger = await gateway.ledger();
  expect(ledger).toHaveLength(1);
  await gateway.restart();
  expect(await (await fetch(gateway.url + pathname + search)).bytes()).toEqual(bytes);
  for (const key of [gateway.key, made.secret]) {
    const models = await gateway.call("/v1/models", { headers: { authorization: `Bearer ${key}` } });
    expect(models.status).toBe(200);
  }
  expect(await gateway.stop()).toBe(0);
  expect(await gateway.ledger()).toEqual(ledger);
}, 20_000);

test("the drain deadline ends requests with 503, and streams with an error event", async () => {
  await using fixture = await openGatewayFixture({ firstByteMs: 60_000, drainSeconds: 1 });
  const { gateway, vendor } = fixture;
  vendor.respondBy(({ body }) => {
    const isStream = body.toString().includes('"stream":true');
    return isStream ? { fault: "stall-midway", after: 3 } : { fault: "stall" };
  });
  const chat = { model: CHAT, messages: [{ role: "user", content: "go on" }] };
  const [complete, image, stream] = [
    gateway.call("/v1/chat/completions", { body: chat }),
    gateway.call("/v1/images/generations", { body: { model: IMAGE, prompt: "A pier" } }),
    gateway.call("/v1/chat/completions", { body: { ...chat, stream: true } }),
  ];
  expect((await stream).status).toBe(200);
  await vendor.waitForHits(3);
  gateway.signal("SIGTERM");
  for (const response of [await complete, await image]) {
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
    expect(await response.json()).toMatchObject({ error: { code: "overloaded" } });
  }
  const text = await (await stream).text();
  expect(text).toContain('"code":"overloaded"');
  expect(text).not.toContain("[DONE]");
  expect(await gateway.exited).toBe(0);
  expect(await gateway.ledger()).toMatchObject([{ flags: expect.arrayContaining(["partial"]) }]);
  const lines = gateway.logs().filter(({ message }) => message === "request");
  for (const line of lines.filter(({ stream }) => stream !== true))
    expect(line).toMatchObject({ status: 503, attempts: [{ outcome: "stopped" }] });
}, 20_000);

test("SIGTERM refuses new connections, serves open ones and finishes requests", async () => {
  await using fixture = await openGatewayFixture();
  const { gateway, vendor } = fixture;
  vendor.next({ tokens: 60, frameDelayMs: 20 });
  const running = gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: "go on" }] },
    headers: { "x-request-id": "drained" },
  });
  expect((await running).status).toBe(200);
  const open = await openConnection(gateway.url);
  expect(await open.get("/readyz")).toStartWith("HTTP/1.1 200 ");
  gateway.signal("SIGTERM");
  await until("new connections to be refused", async () =>
    fetch(`${gateway.url}/healthz`, { headers: { connection: "close" } }).then(
      () => undefined,
      () => true,
    ),
  );
  const probe = await open.get("/readyz");
  expect(probe).toStartWith("HTTP/1.1 503 ");
  expect(probe.toLowerCase()).toContain("connection: close");
  await open.closed;
  const text = await (await running).text();
  expect(text).toContain('"finish_reason":"stop"');
  expect(text).toEndWith("data: [DONE]\n\n");
  expect(await gateway.exited).toBe(0);
  expect(vendor.hits).toHaveLength(1);
  const rows = await gateway.ledger();
  expect(rows).toMatchObject([{ request_id: "drained", flags: [] }]);
}, 20_000);

test("for LEAVE_SECONDS after SIGTERM only readiness fails", async () => {
  await using fixture = await openGatewayFixture({ env: { LEAVE_SECONDS: "60" } });
  const { gateway } = fixture;
  gateway.signal("SIGTERM");
  await until("readiness to turn", async () =>
    (await fetch(`${gateway.url}/readyz`)).status === 503 ? true : undefined,
  );
  const response = await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, messages: [{ role: "user", content: "still" }] },
  });
  expect([response.status, response.headers.get("connection")]).toEqual([200, null]);
  await Bun.sleep(SECOND_SIGNAL_MS);
  gateway.signal("SIGTERM");
  expect(await gateway.exited).toBe(0);
}, 20_000);

test("a gateway without requests exits by itself once LEAVE_SECONDS are over", async () => {
  await using fixture = await openGatewayFixture({ env: { LEAVE_SECONDS: "1" } });
  const startedAt = performance.now();
  expect(await fixture.gateway.stop()).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThan(1_000);
}, 20_000);

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends a start that waits for its database",
  async (signal) => {
    const connected = Promise.withResolvers<void>();
    using silent = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: () => connected.resolve(), data() {} },
    });
    const data = await mkdtemp(join(tmpdir(), "start-"));
    const starting = Bun.spawn({
      cmd: [process.execPath, resolve(import.meta.dir, "../../src/main.ts")],
      env: {
        DATABASE_URL: `postgres://gateway:password@127.0.0.1:${silent.port}/gateway`,
        GATEWAY_DATA_DIR: data,
        PORT: "0",
      },
      stdout: "ignore",
      stderr: "ignore",
    });
    await connected.promise;
    starting.kill(signal);
    expect(await starting.exited).toBe(0);
    await rm(data, { recursive: true });
  },
  20_000,
);

test("a stream that outlives the drain is cut and billed for what was sent", async () => {
  await using fixture = await openGatewayFixture({ drainSeconds: 0.5 });
  const { gateway, vendor } = fixture;
  vendor.next({ fault: "stall-midway", after: 4 });
  const response = await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: "for ever" }] },
    headers: { "x-request-id": "outlived" },
  });
  const reader = response.body!.getReader();
  await reader.read();
  const startedAt = performance.now();
  expect(await gateway.stop()).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await vendor.waitForClose();
  const rows = await gateway.ledger();
  expect(rows).toHaveLength(1);
  expect(rows[0]!.flags).toContain("partial");
  expect(rows[0]!.consumed!.tokens!["output"]).toBeGreaterThan(0);
}, 20_000);

test("the drain also ends detached calls", async () => {
  await using fixture = await openGatewayFixture({ drainSeconds: 0.5 });
  const { gateway, vendor } = fixture;
  await gateway.cli("orgs", "set", "default", "--caller-gone", "drain");
  await Bun.sleep(1_000);
  vendor.next({ tokens: 400, frameDelayMs: 25 }, { delayMs: 20_000 });
  const chat = (name: string, stream: boolean) =>
    gateway.call("/v1/chat/completions", {
      body: { model: CHAT, stream, messages: [{ role: "user", content: "for ever" }] },
      headers: { "x-request-id": name },
    });
  const reader = (await chat("read-on", true)).body!.getReader();
  await reader.read();
  const complete = chat("whole", false);
  await vendor.waitForHits(2);
  await reader.cancel();
  const startedAt = performance.now();
  expect(await gateway.stop()).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect((await complete).status).toBe(503);
  const rows = await gateway.ledger();
  expect(rows.map(({ request_id }) => request_id)).toEqual(["read-on"]);
  expect(rows[0]!.flags).toEqual(["partial", "caller_gone", "estimated"]);
}, 20_000);

test("a SIGTERM a second after the first exits at once and loses no charge", async () => {
  await using fixture = await openGatewayFixture();
  const { gateway, vendor } = fixture;
  vendor.next({ fault: "stall-midway", after: 4 });
  const stream = await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: "for ever" }] },
    headers: { "x-request-id": "abandoned" },
  });
  const reader = stream.body!.getReader();
  await reader.read();
  await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, messages: [{ role: "user", content: "before" }] },
    headers: { "x-request-id": "before" },
  });
  gateway.signal("SIGTERM");
  await until("the drain", async () =>
    fetch(`${gateway.url}/readyz`).then(
      ({ status }) => (status === 503 ? true : undefined),
      () => true,
    ),
  );
  await Bun.sleep(SECOND_SIGNAL_MS);
  const startedAt = performance.now();
  gateway.signal("SIGTERM");
  expect(await gateway.exited).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(1_500);
  // Using the reader here prevents its collection, which would end the connection before the stop.
  await reader.cancel().catch(() => {});
  await gateway.restart();
  await gateway.stop();
  const rows = await gateway.ledger();
  expect(rows.map(({ request_id }) => request_id).sort()).toEqual(["abandoned", "before"]);
  expect(rows.find(({ request_id }) => request_id === "abandoned")!.flags).toEqual(["partial", "estimated"]);
}, 20_000);

test("a stream cut by a kill is billed up to its last checkpoint", async () => {
  await using fixture = await openGatewayFixture();
  const { gateway, vendor } = fixture;
  vendor.next({ tokens: 400, frameDelayMs: 25 });
  const response = await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: "long" }] },
    headers: { "x-request-id": "killed" },
  });
  const reader = response.body!.getReader();
  const startedAt = performance.now();
  let sent = "";
  while (performance.now() - startedAt < 3_000) sent += Buffer.from((await reader.read()).value!).toString();
  await gateway.kill();
  await gateway.restart();
  await gateway.stop();
  const rows = await gateway.ledger();
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ request_id: "killed", flags: ["partial", "estimated"] });
  const words = [...sent.matchAll(/"content":"([^"]+)"/g)].map(([, text = ""]) => text).join("");
  expect(rows[0]!.consumed!.tokens!["output"]).toBeWithin(
    Math.floor(words.length / 4 / 3),
    Math.ceil(words.length / 4) + 1,
  );
}, 20_000);

test(`killed ${KILLS} times under load, the ledger is exact`, async () => {
  const seed = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
  const startedAt = performance.now();
  const report = await killRounds(KILLS, seeded(seed));
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(
    `kills: ${report.received} answers received, ${report.charged} rows, ${seconds} s, seed ${seed}`,
  );
  expect(report).toMatchObject({ missing: [], repeated: [], mispriced: [], invented: [], overcharged: [] });
  expect(report.received).toBeGreaterThan(KILLS);
}, 120_000);

test("a stream on which the vendor is silent is kept alive with comments", async () => {
  expect(await silence).toMatch(/\n\n: [a-z -]+\n\n$/);
}, 30_000);

async function readUntilComment({ gateway }: GatewayFixture): Promise<string> {
  const response = await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: "slowly" }] },
  });
  let received = "";
  for await (const piece of response.body ?? []) {
    received += Buffer.from(piece).toString();
    if (/\n\n: /.test(received)) return received;
  }
  return received;
}

/** Opens a connection that stays open between requests. */
async function openConnection(
  url: string,
): Promise<{ get(path: string): Promise<string>; closed: Promise<void> }> {
  const { hostname, port } = new URL(url);
  const closed = Promise.withResolvers<void>();
  let received = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, bytes) => received.resolve(bytes.toString()),
      close: () => closed.resolve(),
    },
  });
  return {
    get(path) {
      received = Promise.withResolvers<string>();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\n\r\n`);
      return received.promise;
    },
    closed: closed.promise,
  };
}
