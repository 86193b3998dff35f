import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { IMAGE_MODEL, MODEL, openFleet, type Fleet } from "../support/fleet.ts";
import { makePng } from "../support/pictures.ts";
import { until, type TestGateway } from "../support/gateway.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";

/* `Idempotency-Key`: an outcome is stored once, returned for equal requests, and charged once. */
const CHAT = "/v1/chat/completions";
const GENERATE = "/v1/images/generations";
const chat = (prompt: string, stream = false) => ({
  model: MODEL,
  max_tokens: 8,
  messages: [{ role: "user", content: prompt }],
  ...(stream && { stream }),
});
const REPLAYED = "idempotent-replayed";

function suite(open: () => Promise<Fleet>): void {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await open();
  }, 60_000);
  afterAll(() => fleet[Symbol.asyncDispose]());
  beforeEach(() => fleet.vendors.forEach((vendor) => vendor.reset()));

  const one = () => fleet.gateways[0]!;
  const other = () => fleet.gateways.at(-1)!;
  const hits = () => fleet.vendors.reduce((sum, vendor) => sum + vendor.hits.length, 0);
  const key = () => crypto.randomUUID();
  const send = (gateway: TestGateway, path: string, idempotencyKey: string, body: object, more = {}) =>
    gateway.call(path, { body, headers: { "idempotency-key": idempotencyKey, ...more } });

  test.each<[string, string, object]>([
    ["a whole answer", CHAT, chat("whole")],
    ["a stream, event by event", CHAT, chat("stream", true)],
    ["pictures by link", GENERATE, { model: IMAGE_MODEL, prompt: "a boat" }],
    ["pictures as base64", GENERATE, { model: IMAGE_MODEL, prompt: "a boat", response_format: "b64_json" }],
  ])("%s is returned again by any process and billed once", async (_, path, body) => {
    const name = key();
    const requestId = crypto.randomUUID();
    const first = await send(one(), path, name, body, { "x-request-id": requestId });
    const text = await first.text();
    expect({ status: first.status, text }).toMatchObject({ status: 200 });
    expect(first.headers.has(REPLAYED)).toBe(false);
    const again = await send(other(), path, name, body, { "x-request-id": requestId });
    expect(again.headers.get(REPLAYED)).toBe("true");
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(again.headers.get("x-gateway-generated-images")).toBe(
      first.headers.get("x-gateway-generated-images"),
    );
    expect(await again.text()).toBe(text);
    expect(hits()).toBe(1);
    expect(await one().charged(requestId)).toHaveLength(1);
  });

  test("another body, or the same body on another path, is a conflict", async () => {
    const name = key();
    expect((await send(one(), CHAT, name, chat("a"))).status).toBe(200);
    const conflict = await send(other(), CHAT, name, chat("b"));
    expect(conflict.status).toBe(409);
    expect(conflict.headers.has("retry-after")).toBe(false);
    expect(conflict.headers.get("x-should-retry")).toBe("false");
    expect(await conflict.json()).toMatchObject({ error: { code: "idempotency_conflict" } });
    const elsewhere = await send(one(), GENERATE, name, { model: IMAGE_MODEL, prompt: "a boat" });
    expect(elsewhere.status).toBe(409);
    expect((await send(one(), "/v1/messages", name, chat("a"))).status).toBe(409);
    expect(hits()).toBe(1);
  });

  test("the same body with smaller references is a conflict", async () => {
    const name = key();
    const image = `data:image/png;base64,${Buffer.from(makePng(8, 8)).toString("base64")}`;
    const body = { model: IMAGE_MODEL, prompt: "a boat", image };
    expect((await send(one(), "/v1/images/edits", name, body)).status).toBe(200);
    const smaller = { "x-input-image-compress": "true" };
    expect((await send(one(), "/v1/images/edits", name, body, smaller)).status).toBe(409);
    expect((await send(one(), "/v1/images/edits", name, body)).status).toBe(200);
  });

  test("while the first request runs, a second one gets 409 with Retry-After, and the outcome later", async () => {
    const name = key();
    fleet.vendors[0]!.next({ delayMs: 600 });
    const first = send(one(), CHAT, name, chat("slow"));
    await fleet.vendors[0]!.waitForHits(1);
    const second = await send(other(), CHAT, name, chat("slow"));
    expect({ status: second.status, retry: second.headers.get("retry-after") }).toEqual({
      status: 409,
      retry: "1",
    });
    const text = await (await first).text();
    expect(await (await send(other(), CHAT, name, chat("slow"))).text()).toBe(text);
    expect(hits()).toBe(1);
  });

  test("a failure of the vendor is not stored: the same key runs again", async () => {
    const name = key();
    for (const vendor of fleet.vendors) vendor.next("error-status", "error-status", "error-status");
    const failed = await send(one(), CHAT, name, chat("again"));
    expect(failed.status).toBeGreaterThanOrEqual(500);
    fleet.vendors.forEach((vendor) => vendor.reset());
    const again = await send(other(), CHAT, name, chat("again"));
    expect({ status: again.status, replayed: again.headers.has(REPLAYED) }).toEqual({
      status: 200,
      replayed: false,
    });
  });

  test("a stream whose client disconnected is not stored: the same key runs again", async () => {
    const name = key();
    fleet.vendors[0]!.next("stall-midway");
    const client = new AbortController();
    const first = await one().call(CHAT, {
      body: chat("left", true),
      headers: { "idempotency-key": name },
      signal: client.signal,
    });
    await first.body!.getReader().read();
    client.abort();
    const again = await until("the key to be released", async () => {
      const response = await send(other(), CHAT, name, chat("left", true));
      const text = await response.text();
      return response.status === 409 ? undefined : { replayed: response.headers.has(REPLAYED), text };
    });
    expect(again.replayed).toBe(false);
    expect(again.text).toEndWith("data: [DONE]\n\n");
  });

  test("idempotency keys belong to one gateway key, and a request without the header runs each time", async () => {
    const name = key();
    const { secret } = JSON.parse(await one().cli("keys", "create", "--name", "second", "--json")) as {
      secret: string;
    };
    expect((await send(one(), CHAT, name, chat("mine"))).headers.has(REPLAYED)).toBe(false);
    const theirs = await send(one(), CHAT, name, chat("theirs"), { authorization: `Bearer ${secret}` });
    expect(theirs.status).toBe(200);
    await (await one().call(CHAT, { body: chat("mine") })).text();
    expect(hits()).toBe(3);
  });

  test("a form is the same request with any boundary", async () => {
    const name = key();
    const form = (prompt: string) => {
      const fields = new FormData();
      fields.set("model", IMAGE_MODEL);
      fields.set("prompt", prompt);
      fields.set("image", new Blob([Uint8Array.from(makePng(64, 48))], { type: "image/png" }), "a.png");
      return fields;
    };
    const edit = (prompt: string) =>
      one().call("/v1/images/edits", { body: form(prompt), headers: { "idempotency-key": name } });
    const text = await (await edit("bluer")).text();
    const again = await edit("bluer");
    expect({ replayed: again.headers.get(REPLAYED), text: await again.text() }).toEqual({
      replayed: "true",
      text,
    });
    expect((await edit("redder")).status).toBe(409);
  });

  test("a stream that is read to its end without its client is stored, and billed once", async () => {
    await one().cli("orgs", "set", "default", "--caller-gone", "drain");
    await Bun.sleep(1_000);
    const name = key();
    const requestId = crypto.randomUUID();
    const body = { ...chat("drained", true), max_tokens: 400 };
    fleet.vendors.forEach((vendor) => vendor.next({ tokens: 60, frameDelayMs: 10 }));
    const client = new AbortController();
    const first = await one().call(CHAT, {
      body,
      headers: { "idempotency-key": name, "x-request-id": requestId },
      signal: client.signal,
    });
    await first.body!.getReader().read();
    client.abort();
    const [charge] = await one().charged(requestId);
    expect(charge!.flags).toEqual(["caller_gone"]);
    const calls = hits();
    const again = await until("the outcome", async () => {
      const response = await send(other(), CHAT, name, body);
      const text = await response.text();
      return response.status === 409 ? undefined : { replayed: response.headers.get(REPLAYED), text };
    });
    expect(again.replayed).toBe("true");
    expect(again.text).toEndWith("data: [DONE]\n\n");
    expect(hits()).toBe(calls);
  });

  test.each(["a b", "x".repeat(256)])("the unusable key %j is refused", async (name) => {
    expect((await send(one(), CHAT, name, chat("a"))).status).toBe(400);
  });
}

/** A limit of free disk space that forbids storing outcomes on disk. It refuses only requests with large bodies. */
const FULL = "overload: { free_disk_mib: { large_bodies: 1000000000, requests: 0 } }";

/* A response that cannot be stored must not be served or charged a second time. */
function suiteWithoutSpace(open: () => Promise<Fleet>): void {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await open();
    for (const gateway of fleet.gateways)
      await until("the disk to be measured", async () => {
        const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
        return metrics.includes("gateway_overload_step 1\n") || undefined;
      });
  }, 60_000);
  afterAll(() => fleet[Symbol.asyncDispose]());

  const SPOKEN = [{ role: "user", content: "Hello" }];
  const unkept = { message: expect.stringContaining("Its response is not kept") };
  test.each<[string, object, object]>([
    ["/v1/chat/completions", chat("unkept"), { error: { ...unkept, code: "idempotency_conflict" } }],
    ["/v1/chat/completions", chat("unkept", true), { error: { ...unkept, code: "idempotency_conflict" } }],
    [
      "/v1/messages",
      { model: MODEL, max_tokens: 8, messages: SPOKEN },
      { type: "error", error: { ...unkept, type: "invalid_request_error" } },
    ],
    [
      `/v1beta/models/${MODEL}:generateContent`,
      { contents: [{ parts: [{ text: "Hello" }] }] },
      { error: { ...unkept, code: 409 } },
    ],
    [GENERATE, { model: IMAGE_MODEL, prompt: "a boat" }, { error: { ...unkept, type: "bad_request" } }],
  ])("%s is served once, then refused for good", async (path, body, expected) => {
    const name = crypto.randomUUID();
    const requestId = crypto.randomUUID();
    const gateway = fleet.gateways[0]!;
    const send = (to: TestGateway) =>
      to.call(path, { body, headers: { "idempotency-key": name, "x-request-id": requestId } });
    const first = await send(gateway);
    expect([first.status, (await first.text()).length > 0]).toEqual([200, true]);
    for (const again of [await send(gateway), await send(fleet.gateways.at(-1)!)]) {
      expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"]);
      expect(await again.json()).toMatchObject(expected);
    }
    expect(await gateway.charged(requestId)).toHaveLength(1);
  });
}

describe("on one machine", () => suite(() => openFleet()));
describe("on one machine without space", () => suiteWithoutSpace(() => openFleet({ yaml: FULL })));

const found = findPostgres();
if ("folder" in found) {
  describe("on two machines with PostgreSQL", () => {
    let server: PrivatePostgres;
    suite(async () => {
      server = await startPostgres(found.folder);
      return openFleet({ machines: 2, databaseUrl: await server.createDatabase() });
    });
    afterAll(() => server.stop());
  });
  describe("on two machines with PostgreSQL without space", () => {
    let server: PrivatePostgres;
    suiteWithoutSpace(async () => {
      server = await startPostgres(found.folder);
      return openFleet({ machines: 2, databaseUrl: await server.createDatabase(), yaml: FULL });
    });
    afterAll(() => server.stop());
  });
}
