import { afterAll, beforeAll, expect, test } from "bun:test";
import { signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * The resources of administration over HTTP, as programs and the console use them. `send` checks each response against
 * the OpenAPI document. Other files test the rights of roles and of members of one organization.
 */

let gateway: TestGateway;
let admin: Administrator;

beforeAll(async () => {
  gateway = await startTestGateway();
  admin = await signIn(gateway);
});

afterAll(() => gateway[Symbol.asyncDispose]());

const PICTURE = { model: "sandbox-a", prompt: "a lighthouse", size: "1K", quality: "low" };
const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] };

/** Returns the status, type and invalid field of a refusal. */
async function refusal(method: string, path: string, body?: object): Promise<unknown[]> {
  const { status, body: content } = await admin.send(method, path, body);
  return [status, content.error?.type, content.error?.field];
}

test("what was answered is in force: organizations, keys, models, limits and prices, time after time", async () => {
  for (let round = 0; round < 4; round++) {
    const id = `at-once-${round}`;
    await admin.act("POST", "/organizations", { id, name: "At once" });
    const { secret } = await admin.act("POST", "/keys", { organizationId: id, name: "first" });
    const headers = { authorization: `Bearer ${secret}` };
    const status = async () => (await gateway.call("/v1/chat/completions", { body: CHAT, headers })).status;
    expect(await status()).toBe(200);
    await admin.act("PATCH", `/organizations/${id}`, { models: ["sandbox-a"] });
    expect(await status()).not.toBe(200);
    await admin.act("PATCH", `/organizations/${id}`, { models: "*", limits: { requestsPerMinute: 1 } });
    expect([await status(), await status()]).toEqual([200, 429]);
    await admin.act("PATCH", `/organizations/${id}`, { limits: { requestsPerMinute: null } });
    const perMillion = { input: "77" };
    await admin.act("POST", "/prices", { organizationId: id, model: "sandbox-chat", perMillion });
    const quoted = await gateway.call("/v1/pricing/lookup?model=sandbox-chat", { headers });
    expect(JSON.stringify(await quoted.json())).toContain("77");
    await admin.act("PATCH", `/organizations/${id}`, { isDisabled: true });
    expect(await status()).not.toBe(200);
  }
});

test("an organization is created, found, changed and called with its own settings", async () => {
  const created = await admin.act("POST", "/organizations", { id: "acme", name: "Acme", currency: "EUR" });
  expect(created).toMatchObject({ id: "acme", currency: "EUR", models: "*", routes: {}, isDisabled: false });
  expect((await admin.act("GET", "/organizations?search=ACM")).data).toMatchObject([{ id: "acme" }]);
  const change = { models: ["sandbox-a"], settings: { forceImageUrls: true }, limits: { queuedJobs: 3 } };
  const changed = await admin.act("PATCH", "/organizations/acme", { ...change, version: created.version });
  expect(changed).toMatchObject({
    name: "Acme",
    models: ["sandbox-a"],
    settings: { forceImageUrls: true, callerGone: "abort" },
    limits: { queuedJobs: 3 },
  });
  const stale = { name: "Late", version: created.version };
  expect(await refusal("PATCH", "/organizations/acme", stale)).toEqual([409, "conflict", "version"]);
  expect(await admin.act("GET", "/organizations/acme")).toEqual(changed);
  expect(
    await admin.act("POST", "/organizations/acme/enable-models", { models: ["sandbox-chat"] }),
  ).toMatchObject({
    models: ["sandbox-a", "sandbox-chat"],
  });
  expect(
    await admin.act("POST", "/organizations/acme/disable-models", { models: ["sandbox-a"] }),
  ).toMatchObject({
    models: ["sandbox-chat"],
  });
  expect(await refusal("POST", "/organizations", { id: "acme", name: "x" })).toEqual([409, "conflict", "id"]);
  expect(await refusal("POST", "/organizations", { name: "x", modls: "*" })).toEqual([
    400,
    "invalid_input",
    "modls",
  ]);
  const wrong = await admin.send("POST", "/organizations", { name: "x", currency: "EURO", modls: "*" });
  expect(wrong.body.error).toMatchObject({
    message:
      'currency must be an ISO 4217 code such as USD; modls is not a known field; did you mean "models"?',
    problems: [
      {
        field: "currency",
        message: "must be an ISO 4217 code such as USD",
        code: "input.currency",
        figures: {},
      },
      {
        field: "modls",
        message: 'is not a known field; did you mean "models"?',
        code: "input.unknown",
        figures: { noun: "field", meant: "models" },
      },
    ],
  });
  expect((await admin.send("PATCH", "/organizations/acne", { name: "x" })).body.error).toMatchObject({
    message: 'there is no organization "acne"; did you mean "acme"?',
    code: "error.missing",
    figures: { noun: "organization", id: "acne", meant: "acme" },
  });
  expect(await refusal("PATCH", "/organizations/none", { name: "x" })).toEqual([
    404,
    "not_found",
    "organizationId",
  ]);
  expect(await refusal("GET", "/organizations?serch=x")).toEqual([400, "invalid_input", "serch"]);
});

test("no two names differ only in invisible characters", async () => {
  const refused = [400, "invalid_input", "name"];
  for (const name of [
    "\uffa0",
    "\u17b4",
    "Ac\u034fme",
    "Ac\u3164me",
    "\u2800Acme",
    "Acme\ufe0f",
    `A${"\u0301".repeat(40)}cme`,
  ])
    expect([name, await refusal("POST", "/organizations", { name })]).toEqual([name, refused]);
  const { id } = await admin.act("POST", "/organizations", { name: "Acme ❤️ 👩‍🚀" });
  expect((await admin.act("GET", `/organizations/${id}`)).name).toBe("Acme ❤️ 👩‍🚀");
});

test("keys come in pages that lose nothing while others are made, with their last use and budgets", async () => {
  await admin.act("POST", "/organizations", { id: "many", name: "Many" });
  const make = (name: string) => admin.act("POST", "/keys", { organizationId: "many", name });
  for (const name of ["one", "two", "three"]) await make(name);
  const first = await admin.act("GET", "/keys?organizationId=many&limit=2");
  expect(first.data.map(({ name }: { name: string }) => name)).toEqual(["one", "two"]);
  const { key, secret } = await make("four");
  const rest = await admin.act("GET", `/keys?organizationId=many&limit=2&cursor=${first.next}`);
  expect(rest.data.map(({ name }: { name: string }) => name)).toEqual(["three", "four"]);
  expect(rest.next).toBeNull();
  await admin.act("POST", "/budgets", {
    organizationId: "many",
    keyId: key.id,
    amount: "5",
    period: "month",
  });
  await until("the key to be known", async () => {
    const headers = { authorization: `Bearer ${secret}`, "x-request-id": "first-use" };
    return (await gateway.call("/v1/chat/completions", { headers, body: CHAT })).ok || undefined;
  });
  await gateway.charged("first-use");
  const [found] = (await admin.act("GET", "/keys?search=FOUR")).data;
  expect(found).toMatchObject({ id: key.id, budgets: [{ amount: "5.00", period: "month" }] });
  expect(Date.parse(found.lastSeenAt)).toBeGreaterThanOrEqual(Date.parse(found.lastUsedAt));
  expect(Date.parse(found.lastUsedAt)).toBeGreaterThan(Date.parse(found.createdAt) - 1000);
  expect(await refusal("GET", "/keys?cursor=nonsense")).toEqual([400, "invalid_input", "cursor"]);
  expect(await refusal("GET", "/keys?limit=5000")).toEqual([400, "invalid_input", "limit"]);
  const stale = { name: "x", version: key.version - 1 };
  expect(await refusal("PATCH", `/keys/${key.id}`, stale)).toEqual([409, "conflict", "version"]);
  expect(await refusal("PATCH", "/keys/key_none", { name: "x" })).toEqual([404, "not_found", "id"]);
});

test("of two changes from the same state one is refused, however close they are", async () => {
  const { key } = await admin.act("POST", "/keys", { organizationId: "default", name: "raced" });
  const changes = ["a", "b", "c", "d"].map((name) => ({ name, version: key.version }));
  const replies = await Promise.all(changes.map((change) => admin.send("PATCH", `/keys/${key.id}`, change)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
});

test("a budget shows what is spent, when it begins anew, and what it will come to", async () => {
  const budget = await admin.act("POST", "/budgets", {
    organizationId: "default",
    amount: "10",
    period: "month",
  });
  expect(budget).toMatchObject({
    amount: "10.00",
    spent: "0.00",
    currency: "USD",
    keyId: null,
    keyName: null,
  });
  expect(new Date(budget.periodEnd).getUTCDate()).toBe(1);
  const changed = await admin.act("PATCH", `/budgets/${budget.id}`, {
    amount: "12.5",
    version: budget.version,
  });
  expect(changed).toMatchObject({ amount: "12.50" });
  expect((await admin.act("GET", "/budgets?organizationId=default")).data).toEqual([changed]);
  const path = `/budgets/${budget.id}`;
  expect(await refusal("PATCH", path, { amount: "1", version: budget.version })).toEqual([
    409,
    "conflict",
    "version",
  ]);
  expect(await refusal("PATCH", path, { amount: 1 })).toEqual([400, "invalid_input", "amount"]);
  expect(await admin.act("DELETE", path)).toEqual({ done: true });
  expect(await refusal("DELETE", path)).toEqual([404, "not_found", "id"]);
  expect(await admin.act("GET", "/leases")).toEqual({ data: [], next: null });
  expect(await refusal("POST", "/leases/proc_none/write-off", {})).toEqual([404, "not_found", "processId"]);
});

test("a price is tried first, then set, then ended", async () => {
  const row = { organizationId: "default", model: "sandbox-chat", perMillion: { input: "0.5" } };
  const preview = await admin.act("POST", "/prices/preview", row);
  const change = { cell: "input", before: "0.10", after: "0.50", source: "organization" };
  expect(preview.cells).toContainEqual(change);
  expect(preview.refusal).toBeNull();
  const stored = "/prices?organizationId=default";
  expect((await admin.act("GET", stored)).data).toEqual([]);
  const { price } = await admin.act("POST", "/prices", row);
  expect((await admin.act("GET", stored)).data).toEqual([price]);
  const effective = await admin.act("GET", "/prices/effective?model=sandbox-chat&organizationId=default");
  expect(effective.cells).toContainEqual(
    expect.objectContaining({ cell: "input", amount: "0.50", source: "organization" }),
  );
  const all = await admin.act("GET", "/prices?model=sandbox-chat");
  const own = all.data.filter((each: { organizationId: string | null }) =>
    [null, "default"].includes(each.organizationId),
  );
  expect(own).toMatchObject([{ id: null, source: "configuration" }, { id: price.id }]);
  expect((await admin.act("POST", `/prices/${price.id}/end`, {})).cells).toContainEqual(
    expect.objectContaining({ cell: "input", before: "0.50", after: "0.10" }),
  );
  expect(await refusal("POST", `/prices/${price.id}/end`, {})).toEqual([409, "conflict", "id"]);
  expect(await refusal("POST", "/prices", { ...row, perMillion: { input: "-1" } })).toEqual([
    400,
    "invalid_input",
    "perMillion.input",
  ]);
  expect(await refusal("GET", "/prices/effective?model=nothing")).toEqual([400, "invalid_input", "model"]);
});

test("a charge is found by its request, corrected and refunded", async () => {
  await gateway.call("/v1/images/generations", { body: PICTURE, headers: { "x-request-id": "billed" } });
  await gateway.charged("billed");
  const [charge] = (await admin.act("GET", "/ledger?requestId=billed")).data;
  expect(charge).toMatchObject({ kind: "charge", model: "sandbox-a", usage: { unit: "image", count: 1 } });
  const correction = {
    model: "sandbox-a",
    perImage: { "1K": { "*": "0.01" } },
    from: "2020-01-01T00:00:00Z",
    reason: "agreed",
  };
  const planned = await admin.act("POST", "/price-corrections/preview", correction);
  expect(planned).toMatchObject({ isApplied: false, model: "sandbox-a" });
  expect((await admin.act("GET", `/ledger/${charge.id}`)).corrections).toEqual([]);
  const applied = await admin.act("POST", "/price-corrections", correction);
  expect(applied).toMatchObject({ isApplied: planned.adjusted > 0, difference: planned.difference });
  const refund = await admin.act("POST", `/ledger/${charge.id}/refund`, {
    amount: "0.001",
    reason: "blurred",
  });
  expect(refund).toMatchObject({ kind: "refund", amount: "-0.001", corrects: charge.id });
  const view = await admin.act("GET", `/ledger/${charge.id}`);
  expect(view.corrections.map(({ amount }: { amount: string }) => amount)).toContain("-0.001");
  const much = { amount: "1000", reason: "more" };
  expect(await refusal("POST", `/ledger/${charge.id}/refund`, much)).toEqual([
    400,
    "invalid_input",
    "amount",
  ]);
  expect(await refusal("GET", "/ledger/none")).toEqual([404, "not_found", "id"]);
  expect(await refusal("GET", "/ledger?from=yesterday")).toEqual([400, "invalid_input", "from"]);
  expect(await admin.act("GET", "/ledger/verify")).toMatchObject({ differenceCount: 0 });
});

test("a route is set, followed in a dry run that knows what is ejected, and removed", async () => {
  const named = { organizationId: "default", model: "sandbox-chat" };
  const targets = [{ channel: "sandbox", upstreamModel: "sandbox-chat", weight: 2 }];
  const [before] = (await admin.act("GET", "/routes?organizationId=default&model=sandbox-chat")).data;
  const set = { ...named, strategy: "weighted", targets, version: before.version };
  expect(await admin.act("PUT", "/routes", set)).toMatchObject({ source: "organization", targets });
  expect(await refusal("PUT", "/routes", set)).toEqual([409, "conflict", "version"]);
  expect(await admin.act("POST", "/routes/explain", named)).toMatchObject({
    source: "organization",
    targets: [{ name: "sandbox/sandbox-chat", share: 1, ejection: null }],
    refusal: null,
    verdict: "sandbox/sandbox-chat would answer.",
  });
  expect(await admin.act("DELETE", "/routes?organizationId=default&model=sandbox-chat")).toEqual({
    done: true,
  });
  expect(await refusal("DELETE", "/routes?organizationId=default&model=sandbox-chat")).toEqual([
    404,
    "not_found",
    "model",
  ]);
  const wrong = { ...named, targets: [{ channel: "nowhere", upstreamModel: "x" }] };
  expect(await refusal("PUT", "/routes", wrong)).toEqual([400, "invalid_input", "targets[0].channel"]);
});

test("jobs of every organization are listed by state, looked at and cancelled", async () => {
  const job = await (await gateway.call("/api/jobs", { body: PICTURE })).json();
  const { id } = job as { id: string };
  await until("the job to end", async () => {
    const { status } = await admin.act("GET", `/jobs/${id}`);
    return status === "completed" || undefined;
  });
  const listed = await admin.act("GET", "/jobs?status=completed,failed&organizationId=default&limit=1");
  expect(listed.data).toMatchObject([
    { id, progress: 100, images: 1, error: null, keyId: expect.any(String) },
  ]);
  expect((await admin.act("GET", "/jobs?status=pending")).data).toEqual([]);
  expect(await refusal("POST", `/jobs/${id}/cancel`, {})).toEqual([409, "conflict", "id"]);
  expect(await refusal("GET", "/jobs/job_none")).toEqual([404, "not_found", "id"]);
  expect(await refusal("GET", "/jobs?status=lost")).toEqual([400, "invalid_input", "status[0]"]);
});

test("a webhook is made, given another secret and removed", async () => {
  const { webhook, secret } = await admin.act("POST", "/webhooks", {
    organizationId: "default",
    url: "https://hooks.example.com/a",
  });
  expect(secret).toStartWith("whsec_");
  const listed = await admin.send("GET", "/webhooks?organizationId=default");
  expect(listed.body.data).toEqual([webhook]);
  expect(JSON.stringify(listed.body)).not.toContain("whsec_");
  const rotated = await admin.act("POST", `/webhooks/${webhook.id}/rotate`, { overlapMs: 0 });
  expect(rotated.secret).not.toBe(secret);
  expect(await admin.act("DELETE", `/webhooks/${webhook.id}`)).toEqual({ done: true });
  expect(await refusal("DELETE", `/webhooks/${webhook.id}`)).toEqual([404, "not_found", "id"]);
  expect(await admin.act("GET", "/deliveries?status=failed")).toEqual({ data: [], next: null });
  expect(await refusal("POST", "/deliveries/msg_none/redeliver", {})).toEqual([404, "not_found", "id"]);
  const inside = { organizationId: "default", url: "https://10.0.0.1/" };
  expect(await refusal("POST", "/webhooks", inside)).toEqual([400, "invalid_input", "url"]);
});

test("limits, links and the audit", async () => {
  expect(await admin.act("GET", "/limits")).toMatchObject({ organization: {}, key: {} });
  expect(await admin.act("POST", "/links/rotate", {})).toEqual({ kept: 1 });
  const { key } = await admin.act("POST", "/keys", { organizationId: "default", name: "audited" });
  await admin.act("PATCH", `/keys/${key.id}`, { isDisabled: true });
  const { data } = await admin.act("GET", `/audit?subject=${key.id}&kind=key&actor=admin`);
  expect(data).toMatchObject([
    { action: "update", subjectName: "audited", before: { isDisabled: false }, after: { isDisabled: true } },
    { action: "create", subjectName: "audited", before: null },
  ]);
  const first = await admin.act("GET", `/audit?subject=${key.id}&limit=1`);
  const rest = await admin.act("GET", `/audit?subject=${key.id}&limit=1&cursor=${first.next}`);
  expect([...first.data, ...rest.data]).toEqual(data);
  await admin.act("POST", `/keys/${key.id}/rotate`, { overlapMs: 0 });
  const [rotated] = (await admin.act("GET", `/audit?subject=${key.id}&action=rotate`)).data;
  expect(rotated.subjectName).toBe("audited");
  for (const input of ["2.5", "25"])
    await admin.act("POST", "/prices", { model: "sandbox-chat", perMillion: { input, output: "3" } });
  const [price] = (await admin.act("GET", "/audit?kind=price")).data;
  expect(price).toMatchObject({
    subjectName: "sandbox-chat",
    before: { price: { perMillion: { input: "2500000000" } } },
    after: { price: { perMillion: { input: "25000000000" } } },
  });
  expect((await admin.act("GET", `/audit?subject=${key.id}&to=2020-01-01T00:00:00Z`)).data).toEqual([]);
  expect(await admin.act("GET", "/audit/verify")).toMatchObject({ faultCount: 0 });
});
