import { afterAll, beforeAll, expect, test } from "bun:test";
import { operations } from "../../src/admin/operations.ts";
import { ROLES, type Role } from "../../src/admin/roles.ts";
import { allRoutes, type ServerOptions } from "../../src/server/index.ts";
import { ADMIN_ROUTES, ALERT, type Foreign } from "../support/admin-roles.table.ts";
import { send, signIn, type Administrator, type Reply } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * Every route for members, with each role and with an owner of another organization. A new route must be listed in
 * `ADMIN_ROUTES`, with its required role.
 */
const ROUTES = allRoutes({ core: {}, blobs: {}, server: {}, admin: {} } as unknown as ServerOptions).filter(
  (route) => route.auth === "member",
);
const nameOf = ({ name }: { name: string }) => name.replace("admin.", "");

const PASSWORD = "twelve or more characters";
const MASK = "********";
/** Part of every name in the organization `acme`. */
const MARK = "acme";
/** Secret part of an address, as in addresses of chat services. */
const SECRET_PATH = "services/T000/secret";
/** A vendor whose model the organization `spies` must not call. */
const YAML = `
channels:
  acme-vendor:
    provider: openai
    base_url: http://127.0.0.1:9
    credential: none
models:
  vendor-chat:
    type: chat
    max_output_tokens: 1000
    price: { per_million: { input: "1", output: "1" } }
    route: { targets: [{ channel: acme-vendor, upstream_model: chat }] }
`;

let gateway: TestGateway;
let owner: Administrator;
let spy: Administrator;
let foreign: Foreign;
const members = new Map<Role, Administrator>();

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: YAML, env: { REQUEST_LOG: "all", SANDBOX: "on" } });
  owner = await signIn(gateway);
  await owner.act("POST", "/organizations", { id: "acme", name: "Acme" });
  await owner.act("POST", "/organizations", { id: "spies", name: "Spies", models: ["sandbox-*"] });
  for (const role of ROLES) members.set(role, await newMember(`each-${role}`, role, "*"));
  spy = await newMember("spy", "owner", ["spies"]);
  foreign = await makeForeign();
}, 60_000);
afterAll(() => gateway[Symbol.asyncDispose]());

async function newMember(name: string, role: Role, organizations: "*" | string[]): Promise<Administrator> {
  await owner.act("POST", "/members", { name, role, organizations, password: PASSWORD });
  return await signIn(gateway, { name, password: PASSWORD });
}

/** Creates records of many kinds in `acme` and returns their ids. */
async function makeForeign(): Promise<Foreign> {
  const organizationId = "acme";
  await owner.act("PATCH", "/organizations/acme", { settings: { promptLogDays: 1 } });
  const key = await owner.act("POST", "/keys", { organizationId, name: "acme key" });
  const budget = { organizationId, keyId: null, amount: "1000", period: "total" };
  const { id: budgetId } = await owner.act("POST", "/budgets", budget);
  const price = { organizationId, model: "sandbox-chat", perMillion: { input: "1", output: "1" } };
  const { price: row } = await owner.act("POST", "/prices", price);
  const url = `https://acme.example/${SECRET_PATH}`;
  const { webhook } = await owner.act("POST", "/webhooks", { organizationId, url });
  const alert = await owner.act("POST", "/alerts", { organizationId, ...ALERT });
  const agent = await newMember("acme-agent", "owner", ["acme"]);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const given = { name: "acme token", role: "viewer", organizations: ["acme"], expiresAt };
  const { token } = await agent.act("POST", "/tokens", given);
  const requestId = "request-of-acme";
  const headers = { authorization: `Bearer ${key.secret}`, "x-request-id": requestId };
  const messages = [{ role: "user", content: "hello" }];
  const call = async (path: string, body: object) => {
    const reply = await until(`${path} to be served`, async () => {
      const response = await gateway.call(path, { headers, body });
      return response.ok ? response : undefined;
    });
    return (await reply.json()) as { id: string };
  };
  await call("/v1/images/generations", { model: "sandbox-a", prompt: "a lighthouse", quality: "low" });
  const job = await call("/api/jobs", { model: "sandbox-a", prompt: "a lighthouse", quality: "low" });
  // The setting that keeps prompts may become active between two requests.
  const chargeId = await until("a charge with its prompt", async () => {
    await call("/v1/chat/completions", { model: "sandbox-chat", messages });
    const { data } = await owner.act("GET", "/ledger?organizationId=acme&model=sandbox-chat");
    for (const { id } of data as { id: string }[])
      if ((await owner.send("GET", `/prompts/${id}`)).status === 200) return id;
    await Bun.sleep(100);
    return undefined;
  });
  const delivery = await until("a delivery", async () => {
    const { data } = await owner.act("GET", "/deliveries?organizationId=acme");
    return data[0];
  });
  return {
    organizationId,
    keyId: key.key.id,
    budgetId,
    priceId: row.id,
    chargeId,
    requestId,
    jobId: job.id,
    webhookId: webhook.id,
    deliveryId: delivery.id,
    alertId: alert.id,
    memberId: (await agent.act("GET", "/session")).id,
    tokenId: token.id,
    sessionId: (await agent.act("GET", "/sessions")).data[0].id,
    model: "sandbox-chat",
  };
}

/** Sends an input in the form that its route expects. */
function perform(as: Administrator, { method, path }: { method: string; path: string }, input: object) {
  const fields: Record<string, unknown> = { ...input };
  const located = path.replace("/admin/v1", "").replace(/\{([a-zA-Z]+)\}/, (_, name: string) => {
    const value = String(fields[name] ?? "unknown");
    delete fields[name];
    return encodeURIComponent(value);
  });
  if (method !== "GET" && method !== "DELETE") return as.send(method, located, fields);
  return as.send(method, `${located}?${new URLSearchParams(fields as Record<string, string>)}`);
}

test("the table lists every route for members, with the role that it has", () => {
  const needed = Object.fromEntries(ROUTES.map((route) => [nameOf(route), route.role]));
  const listed = Object.fromEntries(Object.entries(ADMIN_ROUTES).map(([name, { role }]) => [name, role]));
  expect(needed).toEqual(listed);
  expect(ROUTES.map(nameOf)).toContainValues(Object.keys(operations));
});

test.each(ROUTES)("$method $path needs a session or a token", async (route) => {
  const { status } = await send(gateway.url, route.method, route.path.replace("/admin/v1", ""));
  expect(status).toBe(401);
});

test.each(ROUTES)("$method $path refuses every lesser role, and no other", async (route) => {
  const { role: least, foreign: reaching } = ADMIN_ROUTES[nameOf(route)]!;
  const isStream = reaching.gets === "stream";
  for (const [role, as] of members) {
    // No schema has the field `notAField`, so the request is refused before it changes anything.
    const { status, body } = isStream ? await open(as, route) : await perform(as, route, { notAField: "x" });
    const expected = ROLES.indexOf(role) < ROLES.indexOf(least) ? 403 : isStream ? 200 : 400;
    expect([role, status, status === expected ? "" : body]).toEqual([role, expected, ""]);
  }
});

/** Returns the status of a response that does not end by itself. */
async function open({ cookie }: Administrator, { path }: { path: string }) {
  const response = await fetch(`${gateway.url}${path}`, { headers: { cookie } });
  await response.body?.cancel();
  return { status: response.status, body: null };
}

test.each(ROUTES)(
  "$method $path gives an owner of another organization nothing of this one",
  async (route) => {
    const { foreign: reaching } = ADMIN_ROUTES[nameOf(route)]!;
    const before = await stateOfForeign();
    if (!("inputs" in reaching)) return;
    const { gets, inputs } = reaching;
    const allowed = { hidden: [404], refused: [403], nothing: [200, 404] }[gets];
    for (const input of inputs(foreign)) {
      const reply = await perform(spy, route, input);
      const shown = reply.status === 200 ? found(reply) : [];
      const outcome = { input, shown, isAllowed: allowed.includes(reply.status), ...reply };
      expect(outcome).toMatchObject({ shown: [], isAllowed: true });
    }
    if (route.method !== "GET") expect(await stateOfForeign()).toEqual(before);
  },
);

test("who may change an endpoint reads its address, others its host, and so does everybody in the audit", async () => {
  for (const [role, as] of members) {
    const mayRead = ROLES.indexOf(role) >= ROLES.indexOf("admin");
    const shown = `https://acme.example/${mayRead ? SECRET_PATH : MASK}`;
    const [endpoints, deliveries, audit] = await Promise.all([
      as.act("GET", "/webhooks?organizationId=acme"),
      as.act("GET", "/deliveries?organizationId=acme"),
      as.act("GET", `/audit?subject=${foreign.webhookId}`),
    ]);
    expect(endpoints.data).toMatchObject([{ url: shown }]);
    expect(deliveries.data.length).toBeGreaterThan(0);
    for (const { url } of deliveries.data) expect([role, url]).toEqual([role, shown]);
    expect(audit.data).toMatchObject([{ after: { url: `https://acme.example/${MASK}` } }]);
  }
  const masked = { organizationId: "acme", url: `https://acme.example/${MASK}` };
  expect((await owner.send("POST", "/webhooks", masked)).status).toBe(400);
  expect(JSON.stringify(await owner.act("GET", "/webhooks?organizationId=acme"))).not.toContain(MASK);
});

/** Returns the names and ids of `acme` that a reply contains. */
function found({ body }: Reply): string[] {
  const text = JSON.stringify(body).toLowerCase();
  return [MARK, ...Object.values(foreign)]
    .filter((each) => each !== foreign.model)
    .filter((each) => text.includes(String(each).toLowerCase()));
}

/** Returns the state of `acme` as the installation's owner sees it. */
async function stateOfForeign(): Promise<unknown> {
  const paths = [
    "/organizations/acme",
    "/keys?organizationId=acme",
    "/prices?organizationId=acme",
    "/webhooks?organizationId=acme",
    "/routes?organizationId=acme",
    "/alerts?organizationId=acme",
    "/ledger?organizationId=acme",
    `/members/${foreign.memberId}`,
  ];
  const states = await Promise.all(paths.map((path) => owner.act("GET", path)));
  const tokens = (await owner.act("GET", "/tokens")).data.length;
  const budgets = (await owner.act("GET", "/budgets?organizationId=acme")).data;
  return [states, tokens, budgets.map(({ id, amount }: { id: string; amount: string }) => [id, amount])];
}
