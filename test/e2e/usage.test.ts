import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseNanos } from "../../src/lib/money.ts";
import { signIn, type Administrator } from "../support/administration.ts";
import { until } from "../support/gateway.ts";
import { CHAT, IMAGE, IMAGE_NANOS, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

/*
 * Tests the data that an operator finds about a request: the failure of each attempt and the lines of its cost. Also
 * tests the data that a user who has only the key finds.
 */
const FALLBACK = "with-fallback";
const LONG = "long-chat";
const CUT = "often-cut";
const UNKNOWN_CALLS = 1_200;

let fixture: GatewayFixture;
let admin: Administrator;
beforeAll(async () => {
  fixture = await openGatewayFixture({
    fallbackModels: [FALLBACK],
    maxAttempts: 2,
    yaml: `  ${LONG}:
    type: chat
    max_output_tokens: 1000
    price:
      per_million: { input: "1.000000001", output: "2", cache_read: "0.123456789" }
      long_context: { above: 6000, per_million: { input: "3.1", output: "4.7", cache_read: "0.31" } }
    route: { targets: [{ channel: ${CHAT}, upstream_model: gpt-5.4 }] }
  ${CUT}:
    type: chat
    max_output_tokens: 1000
    price: { per_million: { input: "1", output: "2" } }
    route: { targets: [{ channel: ${CHAT}, upstream_model: gpt-5.4 }] }
`,
  });
  admin = await signIn(fixture.gateway);
}, 30_000);
afterAll(() => fixture[Symbol.asyncDispose]());

const newId = () => `usage-${Bun.randomUUIDv7()}`;

async function chat(model: string, id: string, { content = "hello", stream = false } = {}) {
  const body = { model, max_tokens: 10, stream, messages: [{ role: "user", content }] };
  const response = await fixture.gateway.call("/v1/chat/completions", {
    body,
    headers: { "x-request-id": id },
  });
  return new Response(await response.text(), response);
}

/** Returns a request's details as soon as they are written. */
const detailOf = (id: string) =>
  until(`the record of ${id}`, async () => {
    const { status, body } = await admin.send("GET", `/requests/${id}`);
    return status === 200 ? body : undefined;
  });

test("a failed request is found by its id with the reason of each attempt", async () => {
  const id = newId();
  fixture.vendor.next({ fault: "error-status", status: 503 });
  fixture.vendor.next({ fault: "rate-limited" });
  const response = await chat(FALLBACK, id);
  expect(response.status).toBe(429);
  const detail = await detailOf(id);
  expect(detail.request).toMatchObject({
    requestId: id,
    route: "chat",
    model: FALLBACK,
    status: 429,
    code: "rate_limit_exceeded",
    isFailed: true,
    amount: null,
    attempts: 2,
    keyName: expect.any(String),
    message: expect.stringContaining("too many requests"),
    cause: expect.stringMatching(/^limited: /),
  });
  expect(detail.attempts).toMatchObject([
    { channel: FALLBACK, outcome: "overloaded", status: 503 },
    { channel: CHAT, outcome: "limited", status: 429 },
  ]);
  expect(detail.ledger).toEqual([]);
  const page = await admin.act("GET", `/requests?outcome=failed&model=${FALLBACK}`);
  expect(page.data).toMatchObject([{ requestId: id, code: "rate_limit_exceeded" }]);
});

test("a request for a model that there is none of keeps the name that was asked, and who asked", async () => {
  const id = newId();
  const asked = `gpt-99-${"x".repeat(90)}`;
  const { status } = await chat(asked, id);
  expect(status).toBe(400);
  const { request } = await detailOf(id);
  expect(request).toMatchObject({ model: null, askedModel: asked, status: 400 });
  expect(request.client).toStartWith("Bun/");
  expect(request.message).toContain("There is no model with this id");
});

test("usage names the programs that called, and the members who called in the console, by HTTP and as a command", async () => {
  const { gateway } = fixture;
  const body = { model: LONG, max_tokens: 10, messages: [{ role: "user", content: "hello" }] };
  const { data } = await admin.act("GET", "/keys?limit=1");
  for (const [id, headers] of [
    [newId(), { "user-agent": "claude-cli/2.1.0 (external, cli)" }],
    [newId(), { "user-agent": `someone/${"x".repeat(300)}` }],
  ] as const) {
    const called = { body, headers: { ...headers, "x-request-id": id } };
    expect((await gateway.call("/v1/chat/completions", called)).status).toBe(200);
    await gateway.charged(id);
  }
  const id = newId();
  const played = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
      "user-agent": "Mozilla/5.0",
      "x-gateway-playground-key": data[0].id,
      "x-request-id": id,
      cookie: admin.cookie,
    },
    body: JSON.stringify(body),
  });
  expect(played.status).toBe(200);
  await gateway.charged(id);
  const clients = await admin.act("GET", `/usage?groupBy=client&model=${LONG}`);
  const named = (groups: { name: string; requests: number; errors: number | null }[]) =>
    Object.fromEntries(groups.map(({ name, requests, errors }) => [name, [requests, errors]]));
  expect(named(clients.groups)).toMatchObject({
    "Claude Code": [1, null],
    Browser: [1, null],
    other: [1, null],
  });
  const members = await admin.act("GET", `/usage?groupBy=member&model=${LONG}`);
  expect(named(members.groups)).toMatchObject({ admin: [1, null], "": [expect.any(Number), null] });
  expect(members.totals.amount).toBe(clients.totals.amount);
  const shown = JSON.parse(await gateway.cli("usage", "--by", "client", "--model", LONG, "--json"));
  expect(shown.groups).toEqual(clients.groups);
  const table = await gateway.cli("usage", "--by", "member", "--model", LONG);
  expect(table).toMatch(/^NAME +ID +AMOUNT.*\n.*\(none\).*\n(?:.*\n)*admin +playground\/admin /);
  expect(table).toContain(`${clients.totals.amount} USD, before that`);
});

test("a request that a second attempt saved shows both and one charge, which refunds lower", async () => {
  const id = newId();
  fixture.vendor.next({ fault: "error-status", status: 503 });
  expect((await chat(FALLBACK, id)).status).toBe(200);
  const [row] = await fixture.gateway.charged(id);
  await admin.act("POST", `/ledger/${row!.id}/refund`, { amount: "0.000000003", reason: "a test" });
  const detail = await until("the whole request", async () => {
    const found = await detailOf(id);
    return found.request.route === null ? undefined : found;
  });
  expect(detail.request).toMatchObject({ id: row!.id, status: 200, isFailed: false, attempts: 2 });
  expect(detail.attempts).toMatchObject([{ outcome: "overloaded", status: 503 }, { outcome: "answered" }]);
  expect(detail.ledger).toMatchObject([{ kind: "charge" }, { kind: "refund", amount: "-0.000000003" }]);
  expect(parseNanos(detail.net)).toBe(row!.amount - 3n);
  const { data } = await admin.act("GET", `/requests?requestId=${id}`);
  expect(data).toHaveLength(1);
});

test("a request is found by a vendor's id with its charge, also when a caller has sent that id as its own", async () => {
  const id = newId();
  fixture.vendor.next({ fault: "error-status", status: 503 });
  expect((await chat(FALLBACK, id)).status).toBe(200);
  const [row] = await fixture.gateway.charged(id);
  const { attempts } = await until("the whole request", async () => {
    const found = await detailOf(id);
    return found.request.route === null ? undefined : found;
  });
  const vendorId = attempts[0].vendorRequestId;
  const alone = await detailOf(vendorId);
  expect(alone.request).toMatchObject({ id: row!.id, requestId: id });
  expect(alone.ledger).toMatchObject([{ kind: "charge" }]);
  expect((await chat("gpt-99", vendorId)).status).toBe(400);
  const both = await until("the request with the id", async () => {
    const found = await detailOf(vendorId);
    return found.request.requestId === vendorId ? found : undefined;
  });
  expect(both.others.map((each: { id: string }) => each.id)).toContain(row!.id);
});

interface CostLine {
  what: string;
  detail: string | null;
  quantity: number;
  unitPrice: string;
  per: number;
  amount: string;
}

/** Amount of the lines, computed in quadrillionths: quantity × price ÷ per, rounded once, half up. */
function sumOf(lines: readonly CostLine[]): bigint {
  const exact = lines.reduce(
    (sum, { quantity, unitPrice, per }) =>
      sum + (BigInt(quantity) * parseNanos(unitPrice) * 1_000_000n) / BigInt(per),
    0n,
  );
  return (exact + 500_000n) / 1_000_000n;
}

async function expectCost(id: string): Promise<CostLine[]> {
  const [row] = await fixture.gateway.charged(id);
  const { cost } = await detailOf(id);
  expect(cost).toMatchObject({ currency: "USD", isExact: true });
  expect(parseNanos(cost.sum)).toBe(row!.amount);
  expect(sumOf(cost.lines)).toBe(row!.amount);
  return cost.lines;
}

test("the lines of a cost add up to the charge: text with cached tokens, short and long", async () => {
  for (const [prompt, what] of [
    [1_234, null],
    [7_001, "long_context"],
  ] as const) {
    const id = newId();
    fixture.vendor.next({
      usage: {
        prompt_tokens: prompt,
        completion_tokens: 7,
        total_tokens: prompt + 7,
        prompt_tokens_details: { cached_tokens: 1_001 },
      },
    });
    expect((await chat(LONG, id, { content: "word ".repeat(prompt) })).status).toBe(200);
    expect(await expectCost(id)).toMatchObject([
      { what: "input", quantity: prompt - 1_001, detail: what, per: 1_000_000 },
      { what: "cache_read", quantity: 1_001, detail: what },
      { what: "output", quantity: 7, detail: what },
    ]);
  }
});

test("the lines of a cost add up to the charge: pictures, which the gallery then shows", async () => {
  const id = newId();
  const response = await fixture.gateway.call("/v1/images/generations", {
    body: { model: IMAGE, prompt: "a harbour", n: 2, size: "1024x1024", quality: "low" },
    headers: { "x-request-id": id },
  });
  expect(response.status).toBe(200);
  expect(await expectCost(id)).toMatchObject([{ what: "image", quantity: 2, detail: "1K:low", per: 1 }]);
  const pictures = await until("the gallery", async () => {
    const { data } = await admin.act("GET", "/pictures");
    return data.length === 2 ? data : undefined;
  });
  expect(pictures[0]).toMatchObject({ requestId: id, model: IMAGE, width: 1024, height: 1024 });
  const picture = await fetch(new URL(pictures[0].url, fixture.gateway.url));
  expect(picture.status).toBe(200);
  expect((await picture.blob()).size).toBe(pictures[0].bytes);
});

test("a member of another organization sees none of it", async () => {
  const { gateway } = fixture;
  await admin.act("POST", "/organizations", { id: "elsewhere", name: "Elsewhere" });
  const created = { name: "visitor", role: "viewer", organizations: ["elsewhere"] };
  const { password } = await admin.act("POST", "/members", created);
  const visitor = await signIn(gateway, { name: "visitor", password });
  const next = "another-password-for-tests";
  await visitor.act("POST", "/session/password", { current: password, next });
  const [{ id }] = (await admin.act("GET", "/requests?limit=1")).data;
  expect((await visitor.send("GET", `/requests/${id}`)).status).toBe(404);
  for (const path of ["/requests", "/pictures", "/requests?outcome=failed"])
    expect((await visitor.act("GET", path)).data).toEqual([]);
  const overview = await visitor.act("GET", "/overview");
  expect(overview.totals).toMatchObject({ amount: "0.00", requests: 0, errors: 0 });
  expect(overview.top.organizations).toEqual([]);
  expect((await visitor.act("GET", "/usage")).groups).toEqual([]);
  expect((await visitor.send("GET", "/requests?organizationId=default")).status).toBe(404);
});

test("a flood of refused requests fills the log to its bound and no further", async () => {
  const flood = async (of: (index: number) => Promise<Response>) => {
    for (let start = 0; start < UNKNOWN_CALLS; start += 100)
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => void (await (await of(start + index)).text())),
      );
  };
  const rows = (where: string): number => {
    using database = new Database(join(fixture.gateway.dataDirectory, "gateway.sqlite"), { readonly: true });
    return database
      .query<{ count: number }, []>(`SELECT COUNT(*) AS count FROM request_log WHERE ${where}`)
      .get()!.count;
  };
  await flood(() => fixture.gateway.call("/v1/chat/completions", { body: { model: "no-such-model" } }));
  await flood((index) =>
    fixture.gateway.call("/v1/models", { headers: { authorization: `Bearer nonsense-${index}` } }),
  );
  const dropped = await until("the metric of what was left out", async () => {
    const metrics = await (await fixture.gateway.call("/metrics")).text();
    const count = Number(/^gateway_request_log_dropped_total (\d+)/m.exec(metrics)?.[1]);
    return count > 0 && rows("status = 400") > 0 ? count : undefined;
  });
  await Bun.sleep(1_200);
  // The log takes 500 records at once, then one every two seconds. The requests of this test take some seconds.
  expect(rows("key_id IS NOT NULL AND status >= 400")).toBeLessThan(560);
  expect(rows("key_id IS NULL")).toBeLessThan(560);
  expect(dropped).toBeGreaterThan(UNKNOWN_CALLS);
});

test("the overview has the spending, the errors and the steps taken, also after a restart", async () => {
  // This fault closes the connection, because an error event could arrive with the first words and cause a retry.
  for (const fault of [undefined, "close-midway"] as const) {
    if (fault) fixture.vendor.next({ fault });
    expect((await chat(CUT, newId(), { stream: true })).status).toBe(200);
  }
  await fixture.gateway.stop();
  await fixture.gateway.restart();
  admin = await signIn(fixture.gateway);
  const overview = await admin.act("GET", "/overview");
  const ledger = await fixture.gateway.ledger();
  const spent = ledger.reduce((sum, { amount }) => sum + amount, 0n);
  expect(parseNanos(overview.totals.amount)).toBe(spent);
  const failed = 4 + UNKNOWN_CALLS;
  const charged = ledger.filter(({ kind }) => kind === "charge").length;
  // The cut stream counts both as charged and as failed.
  const requests = charged + failed - 1;
  expect(overview.totals).toMatchObject({ images: 2, errors: failed, requests });
  expect(overview.totals.p95Ms).toBeGreaterThan(0);
  expect(overview.checklist).toEqual({
    picture: true,
    key: false,
    vendor: true,
    budget: false,
    alert: false,
  });
  expect(overview.channels).toContainEqual(
    expect.objectContaining({ id: FALLBACK, errorRate: expect.any(Number) }),
  );
  expect(overview.top.models[0]).toMatchObject({ id: IMAGE, images: 2, amount: "0.10" });
  const sums = overview.spend.flatMap(({ amounts }: { amounts: string[] }) => amounts.map(nanosOf));
  expect(sums.reduce((sum: bigint, amount: bigint) => sum + amount, 0n)).toBe(spent);
  const usage = await admin.act("GET", "/usage?groupBy=key&interval=hour&from=" + (Date.now() - 3_600_000));
  expect(parseNanos(usage.totals.amount)).toBe(spent);
  const [key] = usage.groups;
  expect(usage.groups.filter(({ id }: { id: string }) => id !== "")).toHaveLength(1);
  expect(key).toMatchObject({ errors: failed, requests, previousAmount: "0.00" });
});

test.each(["key", "organization", "model", "channel", "member", "client"])(
  "a stream that was cut and charged is one request and one error by %s",
  async (groupBy) => {
    const { totals } = await admin.act("GET", `/usage?groupBy=${groupBy}&model=${CUT}`);
    expect(totals).toMatchObject({ requests: 2, errors: 1 });
  },
);

test("ranges are drawn in steps that fit them, cut at their ends, and never reach into the future", async () => {
  const now = Date.now();
  const read = (query: string) => admin.act("GET", `/overview?${query}`);
  const hour = await read(`from=${now - 3_600_000}`);
  expect(hour.interval).toBe("minute");
  expect(hour.series.length).toBeWithin(60, 63);
  expect(now - 3_600_000 - Date.parse(hour.from)).toBeWithin(0, 60_001);
  const day = await read(`from=${now - 86_400_000}&to=${now + 86_400_000}`);
  expect(day.interval).toBe("quarter");
  for (const { to } of [hour, day]) expect(Date.parse(to) - Date.now()).toBeLessThanOrEqual(60_000);
  for (const from of [now - 7 * 86_400_000, now - 80 * 86_400_000, now - 390 * 86_400_000]) {
    const { totals, series } = await read(`from=${from}`);
    expect(totals.amount).toBe(hour.totals.amount);
    expect(totals.requests).toBe(hour.totals.requests);
    const amounts = series.map(({ amount }: { amount: string }) => nanosOf(amount));
    expect(amounts.reduce((sum: bigint, amount: bigint) => sum + amount, 0n)).toBe(nanosOf(totals.amount));
  }
  const earlier = await read(`from=${now - 7_200_000}&to=${now - 3_600_000}`);
  expect(earlier.totals).toMatchObject({ amount: "0.00", requests: 0 });
  const later = await read(`from=${now - 1}`);
  expect(later.previous.requests + later.totals.requests).toBeLessThanOrEqual(hour.totals.requests);
});

test("models show what they cost the organization that is named, and prices where they stand", async () => {
  await admin.act("POST", "/organizations", { id: "yuan", name: "Yuan", currency: "CNY" });
  const of = async (query: string) => (await admin.act("GET", `/model?id=${CHAT}${query}`)).price;
  expect(await of("")).toMatchObject({ currency: "USD" });
  expect(await of("&organizationId=yuan")).toBeNull();
  expect((await admin.act("GET", "/models?organizationId=yuan")).data[0].price).toBeNull();
  const row = { organizationId: "yuan", model: CHAT, perMillion: { input: "1", output: "2" } };
  await admin.act("POST", "/prices", row);
  expect(await of("&organizationId=yuan")).toMatchObject({ currency: "CNY", perMillion: { input: "1.00" } });
  const { data } = await admin.act("GET", "/prices/table");
  expect(data).toContainEqual(expect.objectContaining({ model: CHAT, origin: "file" }));
});

test("a change of a price says whom it concerns, and what the last week would have cost", async () => {
  const { groups } = await admin.act("GET", `/usage?groupBy=model&from=${Date.now() - 7 * 86_400_000}`);
  const spent = groups.find(({ tokens }: { tokens: number }) => tokens > 0);
  const preview = async (perMillion: Record<string, string>, organizationId: string | null = null) =>
    (await admin.act("POST", "/prices/preview", { organizationId, model: spent.id, perMillion })).consequence;
  const doubled = await preview({ input: "1000", output: "1000", cacheRead: "1000", cacheWrite: "1000" });
  expect(doubled.organizations).toContain("default");
  expect(doubled.organizations).not.toContain("yuan");
  // The comparison uses the ordinary price even for requests with a long context.
  expect(Number(doubled.lastWeek.before)).toBeGreaterThan(0);
  expect(Number(doubled.lastWeek.before)).toBeLessThanOrEqual(Number(spent.amount));
  expect(Number(doubled.lastWeek.after)).toBeCloseTo(spent.tokens / 1000, 6);
  expect((await preview({ input: "5", output: "6" }, "yuan")).organizations).toEqual(["yuan"]);
});

test("a change of the price of images says what the last week's sizes and qualities would have cost", async () => {
  const { groups } = await admin.act("GET", `/usage?groupBy=model&from=${Date.now() - 7 * 86_400_000}`);
  const { images } = groups.find(({ id }: { id: string }) => id === IMAGE);
  const id = newId();
  const body = { model: IMAGE, prompt: "a harbour", size: "1024x1024", quality: "high" };
  await fixture.gateway.call("/v1/images/generations", { body, headers: { "x-request-id": id } });
  await fixture.gateway.charged(id);
  const price = { model: IMAGE, perImage: { "1K": { low: "1", high: "3" } } };
  const { consequence } = await admin.act("POST", "/prices/preview", price);
  expect(nanosOf(consequence.lastWeek.before)).toBe(BigInt(images + 1) * IMAGE_NANOS);
  expect(consequence.lastWeek.after).toBe(`${images + 3}.00`);
});

test("a proxy that is not declared is warned of once, and shown", async () => {
  const found = () =>
    fixture.gateway.logs().filter((line) => JSON.stringify(line).includes("TRUSTED_PROXIES"));
  const degraded = async (headers: Record<string, string>) =>
    (await admin.send("GET", "/overview", undefined, headers)).body.status.causes.filter(
      ({ kind }: { kind: string }) => kind === "part",
    );
  expect(await degraded({})).toEqual([]);
  expect(found()).toEqual([]);
  for (const address of ["203.0.113.1", "203.0.113.2"])
    expect(await degraded({ "x-forwarded-for": address })).toEqual([
      {
        kind: "part",
        severity: "warning",
        subject: "proxy",
        organizationId: null,
        code: "part.proxy",
        figures: { part: "proxy", peer: "127.0.0.1" },
        path: "/settings/configuration",
        since: expect.any(String),
        message: expect.stringContaining("A request from 127.0.0.1"),
      },
    ]);
  expect(await until("the warning", () => (found().length > 0 ? found() : undefined))).toHaveLength(1);
});

const nanosOf = (text: string) => (text.startsWith("-") ? -parseNanos(text.slice(1)) : parseNanos(text));

test("a key sees its own usage, limits, budgets and last requests, and nobody's vendors", async () => {
  const { gateway } = fixture;
  const created = await gateway.cli(
    "keys",
    "create",
    "--name",
    "page",
    "--limit",
    "requests_per_minute=300",
    "--json",
  );
  const { key, secret } = JSON.parse(created) as { key: { id: string }; secret: string };
  await gateway.cli("budgets", "create", "--key", key.id, "--amount", "5", "--period", "month");
  const headers = { authorization: `Bearer ${secret}` };
  const id = newId();
  const body = { model: CHAT, messages: [{ role: "user", content: "hello" }] };
  const called = await gateway.call("/v1/chat/completions", {
    body,
    headers: { ...headers, "x-request-id": id },
  });
  expect(called.status).toBe(200);
  const [row] = await gateway.charged(id);
  const usage = await until("its usage", async () => {
    const response = await gateway.call("/v1/usage?days=2", { headers });
    expect(response.status).toBe(200);
    const found = (await response.json()) as ReturnType<typeof JSON.parse>;
    // Charges and new budgets appear within a second.
    return found.totals.requests > 0 && found.budgets.length > 0 ? found : undefined;
  });
  expect(usage.key).toMatchObject({ id: key.id, name: "page", expires_at: null });
  expect(parseNanos(usage.totals.amount)).toBe(row!.amount);
  expect(usage.models).toMatchObject([{ model: CHAT, requests: 1 }]);
  expect(usage.days).toMatchObject([
    { date: new Date().toISOString().slice(0, 10), models: [{ model: CHAT }] },
  ]);
  expect(usage.requests).toMatchObject([{ request_id: id, status: 200, model: CHAT }]);
  expect(usage.budgets).toMatchObject([{ scope: "key", period: "month", amount: "5.00" }]);
  expect(usage.limits).toMatchObject([{ scope: "key", quantity: "requests", limit: 300 }]);
  expect(usage.limits[0].remaining).toBeLessThan(299);
  expect(JSON.stringify(usage)).not.toMatch(/gpt-5|channel|upstream|openai/i);
  expect((await gateway.call("/v1/usage?days=0", { headers })).status).toBe(400);
  const statuses = await Promise.all(
    Array.from({ length: 310 }, async () => (await gateway.call("/v1/usage", { headers })).status),
  );
  expect(statuses).toContain(429);
});

test("days of usage and overview are those of a time zone, and add up to the same", async () => {
  const id = newId();
  expect((await chat(LONG, id)).status).toBe(200);
  await fixture.gateway.charged(id);
  const from = new Date(Date.now() - 7 * 86_400_000).toISOString();
  for (const path of ["/usage?interval=day&", "/overview?"]) {
    const read = async (zone: string) => await admin.act("GET", `${path}from=${from}&zone=${zone}`);
    const [tokyo, utc] = [await read("Asia/Tokyo"), await read("UTC")];
    expect([tokyo.zone, utc.zone]).toEqual(["Asia/Tokyo", "UTC"]);
    expect(tokyo.totals.amount).toBe(utc.totals.amount);
    expect(tokyo.totals.requests).toBeGreaterThan(0);
    const { series } = tokyo as { series: { at: string; amount: string; requests: number }[] };
    for (const { at } of series) expect(at).toEndWith("T15:00:00.000Z");
    const all = series.reduce((sum, { amount }) => sum + parseNanos(amount), 0n);
    expect(all).toBe(parseNanos(tokyo.totals.amount));
    const today = series.findLast(({ at }) => Date.parse(at) <= Date.now());
    expect(today?.requests).toBeGreaterThan(0);
  }
  const wrong = await admin.send("GET", "/overview?zone=Europe/Nowhere");
  expect([wrong.status, wrong.body.error.field]).toEqual([400, "zone"]);
});
