import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";
import { until } from "../support/gateway.ts";

/* Prices by tier and quality: lookup and charge. */
const TIERED = "tiered-image";
const FIXED = "fixed-auto-image";
let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture({
    yaml: `${imageModel(TIERED, `1K: { low: "0.01", medium: "0.02", high: "0.20" }, 2K: { low: "0.02", medium: "0.04", high: "0.40" }`)}
${imageModel(FIXED, `1K: { low: "0.01", medium: "0.02", high: "0.20", auto: "0.05" }, 2K: { "*": "0.40" }`)}
${imageModel("unpriced-tier", `1K: { "*": "0.01" }`)}
  priced-in-euros: { type: chat, max_output_tokens: 10, price: { currency: EUR, per_million: { input: "1", output: "1" } }, route: { targets: [{ channel: image }] } }
`,
  });
});
afterAll(() => fixture[Symbol.asyncDispose]());

function imageModel(id: string, perImage: string): string {
  return `  ${id}:
    type: image
    family: A
    image:
      size_mode: pixels
      tiers: [1K, 2K]
      ratios: ["1:1"]
      sizes: { 1K: { "1:1": 1024x1024 }, 2K: { "1:1": 2048x2048 } }
      bounds: { min_pixels: 655360, max_pixels: 8294400, max_edge: 3840, multiple: 16, max_ratio: 3 }
      qualities: [low, medium, high]
      formats: [png]
      max_images_per_call: 4
    price: { per_image: { ${perImage} } }
    route: { targets: [{ channel: image, upstream_model: gpt-image-2 }] }`;
}

async function readPrice(query: Record<string, string>): Promise<Record<string, unknown>> {
  const response = await fixture.gateway.call(`/v1/pricing/lookup?${new URLSearchParams(query)}`);
  return (await response.json()) as Record<string, unknown>;
}

async function generate(
  body: Record<string, unknown>,
): Promise<{ row: Row; reply: Record<string, unknown> }> {
  const id = `settled-${Bun.randomUUIDv7()}`;
  const response = await fixture.gateway.call("/v1/images/generations", {
    body: { prompt: "a fox", ...body },
    headers: { "x-request-id": id },
  });
  const reply = (await response.json()) as Record<string, unknown>;
  expect([response.status, reply["error"]]).toEqual([200, undefined]);
  const [row] = await fixture.gateway.charged(id);
  return { row: row!, reply };
}
type Row = Awaited<ReturnType<GatewayFixture["gateway"]["charged"]>>[number];

describe("quality `auto`", () => {
  test("is looked up at the highest price and billed by the reported quality", async () => {
    expect(await readPrice({ model: TIERED })).toMatchObject({
      quality: "auto",
      unit_price: "0.20",
      settles_by: "delivered",
    });
    fixture.vendor.next({ quality: "low" });
    const { row, reply } = await generate({ model: TIERED });
    expect(reply["quality"]).toBe("low");
    expect(row.amount).toBe(10_000_000n);
    fixture.vendor.next({ quality: "medium" });
    expect((await generate({ model: TIERED, quality: "auto", n: 2 })).row.amount).toBe(40_000_000n);
  });

  test("is billed at the highest price when the vendor reports an unknown quality", async () => {
    fixture.vendor.next({ quality: "splendid" });
    const { row, reply } = await generate({ model: TIERED });
    expect(row.amount).toBe(200_000_000n);
    expect(reply).not.toHaveProperty("quality");
  });

  test("costs its own price if it has one", async () => {
    const row = await readPrice({ model: FIXED });
    expect(row).toMatchObject({ quality: "auto", unit_price: "0.05" });
    expect(row).not.toHaveProperty("settles_by");
    for (const quality of ["low", "high"]) {
      fixture.vendor.next({ quality });
      expect((await generate({ model: FIXED })).row.amount).toBe(50_000_000n);
    }
  });
});

test("a picture of a smaller tier than requested is billed by its tier", async () => {
  fixture.vendor.next({ size: "1024x1024" });
  expect((await generate({ model: TIERED, size: "2K", quality: "medium" })).row.amount).toBe(20_000_000n);
  expect((await generate({ model: TIERED, size: "2K", quality: "medium" })).row.amount).toBe(40_000_000n);
});

test("older quality names mean their successors", async () => {
  const standard = await generate({ model: TIERED, quality: "standard" });
  expect([standard.reply["quality"], standard.row.amount]).toEqual(["medium", 20_000_000n]);
  const hd = await generate({ model: TIERED, quality: "hd" });
  expect([hd.reply["quality"], hd.row.amount]).toEqual(["high", 200_000_000n]);
  expect(await readPrice({ model: TIERED, quality: "hd" })).toMatchObject({
    quality: "high",
    unit_price: "0.20",
  });
});

test("a model without a price in the key's currency is not listed, and is a 404 by its id", async () => {
  const response = await fixture.gateway.call("/v1/models");
  const { data } = (await response.json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toContain(TIERED);
  expect(data.map(({ id }) => id)).not.toContain("priced-in-euros");
  expect((await fixture.gateway.call("/v1/models/priced-in-euros")).status).toBe(404);
});

test("an organization's price of one cell leaves the others unchanged", async () => {
  const set = ["prices", "set", TIERED, "--org", "default", "--image", "1K:high=0.30"];
  const shown = await fixture.gateway.cli(...set);
  expect(shown).toMatch(/^1K:high +0\.20 +0\.30 +organization$/m);
  expect(shown).toMatch(/^1K:low +0\.01 +0\.01 +default$/m);
  const high = await until("the new price", async () => {
    const found = await readPrice({ model: TIERED, quality: "high" });
    return found["source"] === "organization" ? found : undefined;
  });
  expect(high).toMatchObject({ unit_price: "0.30" });
  expect(await readPrice({ model: TIERED, quality: "low" })).toMatchObject({
    unit_price: "0.01",
    source: "default",
  });
  expect(await readPrice({ model: TIERED, quality: "high", size: "2K" })).toMatchObject({
    unit_price: "0.40",
  });
  fixture.vendor.next({ quality: "low" });
  const { row } = await generate({ model: TIERED });
  expect(row).toMatchObject({ amount: 10_000_000n, price_source: "default" } as never);
});

test("an ended row's cells fall back", async () => {
  const set = ["prices", "set", FIXED, "--org", "default", "--image", "2K=0.50", "--json"];
  const { id } = JSON.parse(await fixture.gateway.cli(...set)) as { id: string };
  const two = { model: FIXED, size: "2K", quality: "high" };
  const unitPrice = (amount: string) =>
    until(`a price of ${amount}`, async () => (await readPrice(two))["unit_price"] === amount || undefined);
  await unitPrice("0.50");
  expect(await fixture.gateway.cli("prices", "remove", id)).toMatch(/^2K:\* +0\.50 +0\.40 +default$/m);
  await unitPrice("0.40");
  const audit = JSON.parse(await fixture.gateway.cli("audit", "list", "--subject", id, "--json")) as object[];
  expect(audit).toMatchObject([{ action: "remove", kind: "price" }, { action: "create" }]);
});

test("a default price in another currency hides no price", async () => {
  await fixture.gateway.cli("prices", "set", TIERED, "--currency", "EUR", "--image", "2K=9");
  const list = ["prices", "list", "--model", TIERED, "--json"];
  expect(JSON.parse(await fixture.gateway.cli(...list))).toContainEqual(
    expect.objectContaining({ currency: "EUR", organizationId: null }),
  );
  // Changes take effect in order. When the later price is visible, the earlier price is valid too.
  await fixture.gateway.cli("prices", "set", TIERED, "--org", "default", "--image", "2K:low=0.03");
  await until("the later price", async () => {
    const found = await readPrice({ model: TIERED, size: "2K", quality: "low" });
    return found["unit_price"] === "0.03" || undefined;
  });
  expect(await readPrice({ model: TIERED, size: "2K", quality: "medium" })).toMatchObject({
    currency: "USD",
    unit_price: "0.04",
  });
});

test("a tier without a price is refused and never free", async () => {
  const response = await fixture.gateway.call("/v1/images/generations", {
    body: { model: "unpriced-tier", prompt: "a fox", size: "2K" },
  });
  expect(response.status).toBe(402);
  const hits = fixture.vendor.hits.length;
  expect(await readPrice({ model: "unpriced-tier", size: "2K" })).toMatchObject({
    error: { code: "MODEL_PRICE_NOT_CONFIGURED" },
  });
  expect(fixture.vendor.hits).toHaveLength(hits);
  expect((await generate({ model: "unpriced-tier" })).row.amount).toBe(10_000_000n);
});

test("a request is charged by the price at its admission", async () => {
  const set = (input: string) =>
    fixture.gateway.cli("prices", "set", CHAT, "--tokens", `input=${input}`, "--tokens", "output=2");
  const inputPrice = async (): Promise<unknown> =>
    ((await readPrice({ model: CHAT }))["prices"] as Record<string, unknown> | undefined)?.["input"];
  fixture.vendor.next({ tokens: 40, frameDelayMs: 60 });
  const stream = await fixture.gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: "hi" }] },
    headers: { "x-request-id": "repriced" },
  });
  const reader = stream.body!.getReader();
  await reader.read();
  const changedAt = Date.now();
  await set("500");
  await until("the new price", async () => (await inputPrice()) === "500.00" || undefined);
  while (!(await reader.read()).done);
  const [row] = await fixture.gateway.charged("repriced");
  const { input = 0, output = 0 } = row!.consumed!.tokens!;
  expect(row!.amount).toBe(BigInt(input) * 1_000n + BigInt(output) * 2_000n);
  const { admitted_at: admittedAt, at } = row as unknown as Record<"admitted_at" | "at", number>;
  expect(Number(admittedAt)).toBeLessThan(changedAt);
  expect(Number(at)).toBeGreaterThan(changedAt);
});

test("as many images as requested are held", async () => {
  const create = ["budgets", "create", "--org", "default", "--amount", "0.15", "--period", "total"];
  await fixture.gateway.cli(...create);
  const request = (n: number) =>
    fixture.gateway.call("/v1/images/generations", {
      body: { model: TIERED, prompt: "a fox", quality: "medium", n },
    });
  // A picture in high quality exceeds the budget. Four in medium quality cost 0.08.
  const blocked = await until("a budget in force", async () => {
    const response = await fixture.gateway.call("/v1/images/generations", {
      body: { model: TIERED, prompt: "a fox", quality: "high" },
    });
    return response.status === 429 ? response : undefined;
  });
  expect(await blocked.json()).toMatchObject({ error: { code: "BILLING_BLOCKED" } });
  expect((await request(4)).status).toBe(200);
  const second = await request(4);
  expect([second.status, ((await second.json()) as { error: { code: string } }).error.code]).toEqual([
    429,
    "BILLING_BLOCKED",
  ]);
  expect((await request(3)).status).toBe(200);
});
