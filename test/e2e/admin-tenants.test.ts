import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Role } from "../../src/admin/roles.ts";
import { newSecret } from "../../src/lib/secret.ts";
import { administrator, signIn, type Administrator, type Reply } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * Attempts of one organization's members to get advantages: better prices, refunds, a larger budget, and the time and
 * memory of other callers.
 */
let gateway: TestGateway;
let owner: Administrator;
let tenant: Administrator;

const PASSWORD = "twelve or more characters";
/** A vendor at an address at which no server listens. */
const YAML = `
channels:
  inside:
    provider: openai
    base_url: http://127.0.0.1:9
    credential: none
models:
  away:
    type: chat
    max_output_tokens: 1000
    price: { per_million: { input: "1", output: "1" } }
    route: { targets: [{ channel: inside, upstream_model: away }] }
`;
const MESSAGES = [{ role: "user", content: "hello" }];

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: YAML });
  owner = await signIn(gateway);
  await owner.act("POST", "/organizations", { id: "acme", name: "Acme" });
  tenant = await newMember("tenant", "owner");
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

async function newMember(name: string, role: Role): Promise<Administrator> {
  await owner.act("POST", "/members", { name, role, organizations: ["acme"], password: PASSWORD });
  return await signIn(gateway, { name, password: PASSWORD });
}

const outcome = ({ status, body }: Reply) => [status, body.error?.field];

test("an owner of one organization sets no price for it, corrects no charge and refunds none", async () => {
  const { secret } = await owner.act("POST", "/keys", { organizationId: "acme", name: "Charged" });
  await until("the key", async () => {
    const headers = { authorization: `Bearer ${secret}` };
    const body = { model: "sandbox-chat", messages: MESSAGES };
    return (await gateway.call("/v1/chat/completions", { headers, body })).ok || undefined;
  });
  const charge = await until("a charge", async () => (await tenant.act("GET", "/ledger")).data[0]);
  const price = {
    organizationId: "acme",
    model: "sandbox-chat",
    perMillion: { input: "0", output: "0" },
  };
  const { price: row } = await owner.act("POST", "/prices", {
    ...price,
    perMillion: { input: "9", output: "9" },
  });
  const refused = await Promise.all([
    tenant.send("POST", "/prices", price),
    tenant.send("POST", `/prices/${row.id}/end`, {}),
    tenant.send("POST", "/price-corrections", { ...price, from: "2020-01-01T00:00:00Z", reason: "mine" }),
    tenant.send("POST", `/ledger/${charge.id}/refund`, { reason: "mine" }),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  expect((await tenant.act("GET", `/ledger/${charge.id}`)).corrections).toEqual([]);
  expect((await tenant.act("GET", "/prices?organizationId=acme")).data).toMatchObject([
    { id: row.id, perMillion: { input: "9.00" } },
  ]);
});

test("an owner of one organization does not give it more than it was given", async () => {
  const given = { models: ["sandbox-chat"], limits: { requestsPerMinute: 600 } };
  await owner.act("PATCH", "/organizations/acme", given);
  const tried = [
    { isDisabled: false },
    { models: "*" },
    { limits: { requestsPerMinute: null } },
    { name: "Ours" },
  ];
  const outcomes: unknown[] = [];
  for (const change of tried)
    outcomes.push(outcome(await tenant.send("PATCH", "/organizations/acme", change)));
  expect(outcomes).toEqual([
    [403, "isDisabled"],
    [403, "models"],
    [403, "limits"],
    [200, undefined],
  ]);
  const enabled = await tenant.send("POST", "/organizations/acme/enable-models", { models: "*" });
  expect(enabled.status).toBe(403);
  expect(await tenant.act("GET", "/organizations/acme")).toMatchObject({ ...given, name: "Ours" });
  await owner.act("PATCH", "/organizations/acme", { models: "*", limits: { requestsPerMinute: "default" } });
});

test("an owner of one organization cannot route a cheap model to an expensive one", async () => {
  const route = { organizationId: "acme", model: "sandbox-b-fast" };
  const dear = { channel: "sandbox", upstreamModel: "sandbox-b-quality", weight: 1 };
  const own = { channel: "sandbox", upstreamModel: "sandbox-b-fast", weight: 7 };
  const refused = await tenant.send("PUT", "/routes", { ...route, targets: [own, dear] });
  expect(outcome(refused)).toEqual([403, "targets[1]"]);
  expect(await tenant.act("PUT", "/routes", { ...route, targets: [own] })).toMatchObject({ targets: [own] });
  // Members may reorder the targets that the installation gave.
  await owner.act("PUT", "/routes", { ...route, targets: [own, dear] });
  const swapped = await tenant.act("PUT", "/routes", { ...route, targets: [dear, own] });
  expect(swapped).toMatchObject({ targets: [dear, own] });
});

test("a failed request does not reveal what the installation runs on", async () => {
  const { secret } = await owner.act("POST", "/keys", { organizationId: "acme", name: "Failing" });
  const call = {
    headers: { authorization: `Bearer ${secret}` },
    body: { model: "away", messages: MESSAGES },
  };
  const found = await until("a failed request", async () => {
    await gateway.call("/v1/chat/completions", call);
    return (await owner.act("GET", "/requests?model=away&statusClass=5xx")).data[0];
  });
  const causeFor = async (as: Administrator) => (await as.act("GET", `/requests/${found.id}`)).request.cause;
  expect(await causeFor(owner)).toBeString();
  expect(await causeFor(tenant)).toBeNull();
});

test("a record has no list so long that every request would be slow", async () => {
  const key = { organizationId: "acme", name: "Long" };
  const addresses = Array.from({ length: 1001 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  const models = Array.from({ length: 1001 }, () => "sandbox-chat");
  const enable = "/organizations/acme/enable-models";
  expect(outcome(await tenant.send("POST", "/keys", { ...key, addresses }))).toEqual([400, "addresses"]);
  expect(outcome(await tenant.send("POST", "/keys", { ...key, models }))).toEqual([400, "models"]);
  expect(outcome(await owner.send("POST", enable, { models }))).toEqual([400, "models"]);
  expect(outcome(await owner.send("PATCH", "/organizations/acme", { models }))).toEqual([400, "models"]);
});

test("a lesser token of a member does not get what the member's session was given", async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  await owner.act("POST", "/organizations", { id: "other", name: "Other" });
  const { secret } = await owner.act("POST", "/tokens", {
    name: "lesser",
    role: "admin",
    organizations: ["acme"],
    expiresAt,
  });
  const lesser = administrator(gateway, { authorization: `Bearer ${secret}` });
  const key = { organizationId: "other", name: "Once" };
  const once = { "idempotency-key": "once" };
  const first = await owner.send("POST", "/keys", key, once);
  expect((await owner.send("POST", "/keys", key, once)).body.secret).toBe(first.body.secret);
  const replayed = await lesser.send("POST", "/keys", key, once);
  expect([replayed.status, JSON.stringify(replayed.body).includes("gk_")]).toEqual([409, false]);
});

test("a secret of a current or former key cannot become another key's", async () => {
  await owner.act("POST", "/organizations", { id: "rival", name: "Rival" });
  const { key, secret } = await tenant.act("POST", "/keys", { organizationId: "acme", name: "Ours" });
  const claim = () => owner.send("POST", "/keys", { organizationId: "rival", name: "Claimed", secret });
  expect(outcome(await claim())).toEqual([409, "secret"]);
  await tenant.act("POST", `/keys/${key.id}/rotate`, { overlapMs: 0 });
  expect(outcome(await claim())).toEqual([409, "secret"]);
  const second = await tenant.act("POST", "/keys", { organizationId: "acme", name: "Removed" });
  await tenant.act("DELETE", `/keys/${second.key.id}`);
  const removed = { organizationId: "rival", name: "Claimed", secret: second.secret };
  expect(outcome(await owner.send("POST", "/keys", removed))).toEqual([409, "secret"]);
});

test("a key of another gateway works here with its secret, and one that no gateway made is refused", async () => {
  const key = { organizationId: "acme", name: "Moved" };
  const secret = newSecret();
  await tenant.act("POST", "/keys", { ...key, secret });
  expect((await gateway.call("/v1/models", { headers: { authorization: `Bearer ${secret}` } })).status).toBe(
    200,
  );
  const own = { ...key, secret: "gk_my-own-secret-without-a-checksum" };
  expect(outcome(await tenant.send("POST", "/keys", own))).toEqual([400, "secret"]);
});

test("an organization has so many endpoints and alerts and no more", async () => {
  await owner.act("POST", "/organizations", { id: "loud", name: "Loud" });
  const settings = { kind: "budget", percents: [1], budgetId: null };
  const alert = { organizationId: "loud", name: "Alert", settings, emails: ["who@example.com"] };
  const webhook = (index: number) => ({ organizationId: "loud", url: `https://hooks.example/${index}` });
  for (let index = 0; index < 20; index++) await owner.act("POST", "/webhooks", webhook(index));
  for (let index = 0; index < 50; index++) await owner.act("POST", "/alerts", alert);
  expect((await owner.send("POST", "/webhooks", webhook(20))).status).toBe(409);
  expect((await owner.send("POST", "/alerts", alert)).status).toBe(409);
});

test("an organization's own members create ten thousand keys for it and no more", async () => {
  const key = (name: string) => ({ organizationId: "acme", name });
  const { key: first } = await tenant.act("POST", "/keys", key("First of many"));
  const database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 10000");
  database.run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO api_keys (id, organization_id, name, hint, hash, scopes, models, limits, refuse_ignored, is_disabled, created_at, revision)
    SELECT 'many_' || i, 'acme', 'Many', 'gk_', 'hash_' || i, scopes, models, limits, refuse_ignored, 0, created_at, revision
    FROM api_keys, n WHERE id = '${first.id}'`);
  database.close();
  const refused = await tenant.send("POST", "/keys", key("Too many"));
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining("10000 keys")]);
  expect((await owner.send("POST", "/keys", key("By the operator"))).status).toBe(200);
});

test("input that is nested too deeply is refused, with an idempotency key, too", async () => {
  const nested = `${"[".repeat(500_000)}${"]".repeat(500_000)}`;
  const reply = await fetch(`${gateway.url}/admin/v1/routes/explain`, {
    method: "POST",
    headers: {
      cookie: tenant.cookie,
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
      "idempotency-key": "nested",
    },
    body: `{"organizationId":${nested}}`,
  });
  expect(reply.status).toBe(400);
});

test("exports that have ended no longer count", async () => {
  const reader = await newMember("reader", "viewer");
  for (let index = 0; index < 8; index++)
    expect((await reader.send("GET", "/export/audit")).status).toBe(200);
  for (let index = 0; index < 8; index++)
    expect((await reader.send("GET", "/export/keys?colour=red")).status).toBe(400);
});
