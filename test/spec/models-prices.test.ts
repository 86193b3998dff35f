import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, IMAGE, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";
import { until } from "../support/gateway.ts";

/* The models that a key can call, and their prices. */
let fixture: GatewayFixture;
let narrow: string;
let textOnly: string;
beforeAll(async () => {
  fixture = await openGatewayFixture({
    yaml: `  retired-chat: { type: chat, max_output_tokens: 10, retired: true, price: { currency: USD, per_million: { input: "1", output: "1" } }, route: { targets: [{ channel: house-chat }] } }
  unpriced-chat: { type: chat, max_output_tokens: 10, route: { targets: [{ channel: house-chat }] } }
`,
  });
  const made = await fixture.gateway.cli("keys", "create", "--name", "narrow", "--model", CHAT, "--json");
  narrow = JSON.parse(made).secret;
  const scoped = await fixture.gateway.cli("keys", "create", "--name", "text", "--scope", "ai:llm", "--json");
  textOnly = JSON.parse(scoped).secret;
});
afterAll(() => fixture[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) => fixture.gateway.call(path, { headers });
const price = async (query: Record<string, string>) =>
  (await (await get(`/v1/pricing/lookup?${new URLSearchParams(query)}`)).json()) as Record<string, unknown>;

describe("the list of models", () => {
  test("has the facts of each model", async () => {
    const { object, data } = (await (await get("/v1/models")).json()) as {
      object: string;
      data: { id: string }[];
    };
    expect(object).toBe("list");
    const byId = new Map(data.map((model) => [model.id, model]));
    expect(byId.get(CHAT)).toEqual({
      id: CHAT,
      object: "model",
      created: expect.any(Number),
      owned_by: expect.any(String),
      display_name: expect.any(String),
      type: "chat",
      family: null,
      endpoints: expect.arrayContaining(["/v1/chat/completions"]),
      modalities: { input: expect.any(Array), output: ["text"] },
      parameters: expect.any(Object),
      limits: expect.any(Object),
      pricing_url: `/v1/pricing/lookup?model=${CHAT}`,
    } as never);
    expect(byId.get(IMAGE)).toMatchObject({
      type: "image",
      family: "A",
      endpoints: expect.arrayContaining(["/v1/images/generations"]),
      limits: { reference_images: 16, n_max: 4 },
    } as never);
    expect(byId.has("retired-chat")).toBe(false);
  });

  test("has only models that the key may call", async () => {
    const response = await get("/v1/models", { authorization: `Bearer ${narrow}` });
    const { data } = (await response.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual([CHAT]);
    const foreign = await get(`/v1/models/${IMAGE}`, { authorization: `Bearer ${narrow}` });
    const unknown = await get("/v1/models/nobody", { authorization: `Bearer ${narrow}` });
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    const strip = async (response: Response) => (await response.text()).replace(/req_\w+/, "");
    expect(await strip(foreign)).toBe(await strip(unknown));
  });

  test("has no models outside the key's scopes", async () => {
    const headers = { authorization: `Bearer ${textOnly}` };
    const { data } = (await (await get("/v1/models", headers)).json()) as { data: { type: string }[] };
    expect(data.map(({ type }) => type)).toContain("chat");
    expect(data.map(({ type }) => type)).not.toContain("image");
    expect((await get(`/v1/models/${IMAGE}`, headers)).status).toBe(404);
  });

  test("is revalidated by its ETag", async () => {
    const first = await get("/v1/models");
    const etag = first.headers.get("etag")!;
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get("/v1/models", { "if-none-match": value });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe("");
      expect(again.headers.get("etag")).toBe(etag);
    }
    expect((await get("/v1/models", { "if-none-match": '"other"' })).status).toBe(200);
    const narrowTag = (await get("/v1/models", { authorization: `Bearer ${narrow}` })).headers.get("etag");
    expect(narrowTag).not.toBe(etag);
  });

  test("has the messages protocol's format and key header for its clients", async () => {
    const headers = { "anthropic-version": "2023-06-01" };
    const list = (await (await get("/v1/models", headers)).json()) as { data: object[] };
    expect(Object.keys(list).sort()).toEqual(["data", "first_id", "has_more", "last_id"]);
    expect(list.data[0]).toEqual({
      type: "model",
      id: expect.any(String),
      display_name: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      max_input_tokens: null,
      max_tokens: expect.any(Number),
      lifecycle: "active",
      deprecated_at: null,
      retires_at: null,
      line: null,
      capabilities: null,
    });
    const withKey = await fetch(`${fixture.gateway.url}/v1/models`, {
      headers: { ...headers, "x-api-key": fixture.gateway.key },
    });
    expect(withKey.status).toBe(200);
    const without = await fetch(`${fixture.gateway.url}/v1/models`, {
      headers: { "x-api-key": fixture.gateway.key },
    });
    expect(without.status).toBe(401);
  });
});

describe("the price lookup", () => {
  test("returns an image's unit price and total by tier", async () => {
    expect(await price({ model: IMAGE })).toMatchObject({ unit: "image", tier: "1K", unit_price: "0.05" });
    expect(await price({ model: IMAGE, size: "2K", n: "3", quality: "low" })).toEqual({
      object: "price",
      model: IMAGE,
      currency: "USD",
      unit: "image",
      tier: "2K",
      quality: "low",
      unit_price: "0.10",
      total: "0.30",
      source: "default",
      effective_from: null,
    });
    expect(await price({ model: IMAGE, size: "3840x2160" })).toMatchObject({
      tier: "4K",
      unit_price: "0.20",
    });
  });

  test("takes an empty value for an absent one", async () => {
    const empty = { n: "", size: "", quality: "", aspectRatio: "" };
    expect(await price({ model: IMAGE, ...empty })).toEqual(await price({ model: IMAGE }));
  });

  test("returns a text model's prices by category", async () => {
    expect(await price({ model: CHAT })).toEqual({
      object: "price",
      model: CHAT,
      currency: "USD",
      unit: "token",
      prices: {
        input: "1.00",
        output: "2.00",
        cache_read: "1.00",
        cache_write: "1.00",
        cache_write_1h: "1.00",
      },
      source: "default",
      effective_from: null,
    });
  });

  test("without a model returns all prices that the key may call", async () => {
    const response = await get("/v1/pricing/lookup", { authorization: `Bearer ${narrow}` });
    const { object, data } = (await response.json()) as { object: string; data: { model: string }[] };
    expect(object).toBe("list");
    expect(data.map(({ model }) => model)).toEqual([CHAT]);
  });

  test.each<[Record<string, string>, number, string]>([
    [{ model: "nobody" }, 400, "model_not_available_for_routing"],
    [{ model: "retired-chat" }, 400, "model_retired"],
    [{ model: "unpriced-chat" }, 402, "MODEL_PRICE_NOT_CONFIGURED"],
    [{ model: IMAGE, n: "0" }, 400, "invalid_parameter"],
    [{ model: IMAGE, n: "5" }, 400, "invalid_parameter"],
    [{ model: IMAGE, n: "1.5" }, 400, "invalid_parameter"],
    [{ model: "%%%'; DROP TABLE prices" }, 400, "model_not_available_for_routing"],
  ])("%p is %d %s, like a call", async (query, status, code) => {
    const response = await get(`/v1/pricing/lookup?${new URLSearchParams(query)}`);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "request_id", "type"]);
    expect(error["code"]).toBe(code);
  });

  test("a forbidden model is refused like a call", async () => {
    const response = await get(`/v1/pricing/lookup?model=${IMAGE}`, { authorization: `Bearer ${narrow}` });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: "model_not_allowed_for_api_key" } });
    const headers = { authorization: `Bearer ${textOnly}` };
    const scopeless = await get(`/v1/pricing/lookup?model=${IMAGE}`, headers);
    expect(scopeless.status).toBe(401);
    expect(await scopeless.json()).toMatchObject({ error: { code: "authentication_required" } });
    const { data } = (await (await get("/v1/pricing/lookup", headers)).json()) as {
      data: { unit: string }[];
    };
    expect(new Set(data.map(({ unit }) => unit))).toEqual(new Set(["token"]));
  });

  test("an organization's price is looked up, held and billed once set", async () => {
    await fixture.gateway.cli(
      "prices",
      "set",
      CHAT,
      "--org",
      "default",
      "--tokens",
      "input=10",
      "--tokens",
      "output=30",
    );
    const seen = await until("the new price", async () => {
      const found = await price({ model: CHAT });
      return found["source"] === "organization" ? found : undefined;
    });
    expect(seen).toMatchObject({
      prices: { input: "10.00", output: "30.00" },
      effective_from: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    const response = await fixture.gateway.call("/v1/chat/completions", {
      body: { model: CHAT, messages: [{ role: "user", content: "hi" }] },
      headers: { "x-request-id": "own-price" },
    });
    const { usage } = (await response.json()) as {
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    const [row] = await fixture.gateway.charged("own-price");
    expect(row!.amount).toBe(
      BigInt(usage.prompt_tokens) * 10_000n + BigInt(usage.completion_tokens) * 30_000n,
    );
    expect(row).toMatchObject({ price_source: "organization" } as never);
  }, 20_000);
});
