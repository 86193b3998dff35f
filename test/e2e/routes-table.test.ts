import { afterAll, beforeAll, expect, test } from "bun:test";
import { allRoutes, type ServerOptions } from "../../src/server/index.ts";
import type { HttpRoute } from "../../src/server/routes.ts";
import { reportExact } from "../support/figure.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * Routes that need a key refuse requests without it. Charged routes also refuse those without scope, price, permission,
 * budget or rate. New routes are included automatically. A route without a key, or a POST route, must be listed here.
 */

/** Routes without a key. */
const OPEN = [
  "/files/{name}",
  "/healthz",
  "/readyz",
  "/metrics",
  "/console",
  "/console/",
  "/console/{page}",
  "/console/assets/{name}",
  "/openapi.json",
  "/docs",
  "/docs/",
  "/docs/{page}",
  "/admin/v1/session",
  "/admin/v1/sign-in",
  "/",
];

/** POST routes without a charge. */
const FREE = [
  "/v1/messages/count_tokens",
  "/v1/responses/{id}/cancel",
  "/v1/responses/compact",
  "/v1/responses/input_tokens",
  "/api/jobs/cancel",
  "/api/jobs/{id}/cancel",
];

/** Charged routes, each with a request for a model of the given group. */
const COSTING: Record<string, (group: string) => { path?: string; body: object }> = {
  "/v1/chat/completions": (group) => ({ body: { model: `${group}-chat`, messages: MESSAGES } }),
  "/v1/completions": (group) => ({ body: { model: `${group}-chat`, prompt: "hello" } }),
  "/v1/messages": (group) => ({ body: { model: `${group}-messages`, max_tokens: 8, messages: MESSAGES } }),
  "/v1/responses": (group) => ({ body: { model: `${group}-chat`, input: "hello" } }),
  "/v1/embeddings": (group) => ({ body: { model: `${group}-embedding`, input: "hello" } }),
  "/v1/images/generations": (group) => ({ body: { model: `${group}-a`, prompt: "a lighthouse" } }),
  "/v1/images/edits": (group) => ({ body: { model: `${group}-a`, prompt: "a lighthouse", image: PIXEL } }),
  "/v1beta/models/{call}": (group) => native("v1beta", `${group}-b`),
  "/v1/models/{call}": (group) => native("v1", `${group}-b`),
  "/v1beta/{call}": (group) => ({
    ...native("v1beta", `${group}-b`),
    path: `/v1beta/${group}-b:generateContent`,
  }),
  "/api/jobs": (group) => ({ body: { model: `${group}-a`, prompt: "a lighthouse" } }),
};

const MESSAGES = [{ role: "user", content: "hello" }];
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const OTHER_SCOPE = { "ai:llm": "ai:image", "ai:image": "ai:llm" } as const;

const ROUTES = allRoutes({ core: {}, blobs: {}, server: {}, admin: {} } as unknown as ServerOptions);

/** Refusals of charged routes: the reason, the group of key and models, the status, and the code. */
const REFUSALS: [who: string, group: string, status: number, code: RegExp][] = [
  ["a model has no price", "unpriced", 402, /MODEL_PRICE_NOT_CONFIGURED|invalid_request_error/],
  ["a model is not enabled", "narrow", 403, /model_not_authorized_for_org|permission_error/],
  ["the budget is empty", "broke", 429, /BILLING_BLOCKED|rate_limit_error/],
  ["nothing is left of the limit", "limited", 429, /rate_limit_exceeded|rate_limit_error/],
];

let gateway: TestGateway;
/** A key for each organization and scope. */
const keys = new Map<string, string>();

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: yaml() });
  const cli = (...args: string[]) => gateway.cli(...args);
  const organizations = ["narrow", "broke", "limited"];
  await Promise.all(organizations.map((id) => cli("orgs", "create", "--id", id, "--name", id)));
  await Promise.all([
    cli("budgets", "create", "--org", "broke", "--amount", "0"),
    cli("orgs", "set", "limited", "--limit", "requests_per_minute=0", "--limit", "images_per_minute=0"),
    ...["default", ...organizations].map((id) => createKey(id, id)),
    ...["ai:llm", "ai:image"].map((scope) => createKey(scope, "default", "--scope", scope)),
  ]);
  // Changes take effect in order. When this last change is valid, all changes are.
  await cli(
    "orgs",
    "disable-model",
    "narrow",
    ...["chat", "messages", "embedding", "a", "b"].map((kind) => `house-${kind}`),
  );
  await until("all of it to be in force", async () => {
    const { status, text } = await call("GET", "/v1/models", keys.get("narrow")!);
    return status === 200 && !text.includes("house-chat") ? true : undefined;
  });
}, 60_000);
afterAll(() => gateway[Symbol.asyncDispose]());

test("only listed routes need no key", () => {
  const open = ROUTES.filter(({ auth }) => auth === "public").map(({ path }) => path);
  expect(open.filter((path) => !OPEN.includes(path))).toEqual([]);
});

test("every POST route is listed as charged or free", () => {
  const posting = ROUTES.filter(({ method, auth }) => method === "POST" && auth === "key").map(
    ({ path }) => path,
  );
  expect(posting.filter((path) => !costing(path) && !FREE.includes(openAiPath(path)))).toEqual([]);
});

for (const route of ROUTES) {
  if (route.auth !== "key") continue;
  test(`${route.method} ${route.path} is 401 without a key and with an unknown one`, async () => {
    for (const key of [null, `gk_${"x".repeat(38)}`]) {
      const { status, text } = await call(route.method, pathOf(route, "house"), key, bodyOf(route, "house"));
      expect(status).toBe(401);
      expect(text).toMatch(/missing_api_key|authentication/);
    }
  });
  if (route.scope !== null) {
    const { scope } = route;
    test(`${route.method} ${route.path} refuses a key without ${scope}`, async () => {
      const key = keys.get(OTHER_SCOPE[scope])!;
      const { status, text } = await call(route.method, pathOf(route, "house"), key, bodyOf(route, "house"));
      expect([401, 403]).toContain(status);
      expect(text).toContain(scope);
    });
  }
  if (route.method !== "POST" || !costing(route.path)) continue;
  for (const [when, group, status, code] of REFUSALS) {
    test(`${route.path} is ${status} when ${when}`, async () => {
      const models = group === "unpriced" ? "unpriced" : "house";
      const key = keys.get(group) ?? keys.get("default")!;
      const response = await call("POST", pathOf(route, models), key, bodyOf(route, models));
      expect(response).toMatchObject({ status });
      expect(response.text).toMatch(code);
    });
  }
}

/** Native text and images have the same path. The model in the path decides between them. */
for (const [when, group, status, code] of REFUSALS) {
  test.each(["v1", "v1beta"])(`native text by /%s is ${status} when ${when}`, async (version) => {
    const models = group === "unpriced" ? "unpriced" : "house";
    const { path, body } = native(version, `${models}-chat`);
    const response = await call("POST", path, keys.get(group) ?? keys.get("default")!, body);
    expect(response).toMatchObject({ status });
    expect(response.text).toMatch(code);
  });
}

test("nothing was billed", async () => {
  const keyed = ROUTES.filter(({ auth }) => auth === "key").length;
  expect(
    reportExact(
      "A1",
      `routes behind the door, of ${ROUTES.length}`,
      keyed,
      "routes",
      ROUTES.filter(({ auth }) => auth === "key").length,
    ),
  ).toBe(true);
  expect(await gateway.ledger()).toEqual([]);
});

function pathOf(route: HttpRoute, group: string): string {
  const request = costing(route.path)?.(group);
  const model = request && "model" in request.body ? String(request.body.model) : "something";
  return request?.path ?? route.path.replace("{model}", model).replace(/\{[a-z]+\}/, "something");
}

function bodyOf(route: HttpRoute, group: string): object | undefined {
  if (route.method !== "POST") return undefined;
  return costing(route.path)?.(group).body ?? {};
}

function costing(path: string): (typeof COSTING)[string] | undefined {
  return COSTING[openAiPath(path)];
}

/** Returns the path as in OpenAI's addresses, without the prefix of Azure's. */
function openAiPath(path: string): string {
  return path.replace(/^\/openai\/(?:v1\/|deployments\/\{model\}\/)?/, "/v1/");
}

async function call(method: string, path: string, key: string | null, body?: object) {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function createKey(name: string, organization: string, ...more: string[]): Promise<void> {
  const args = ["keys", "create", "--org", organization, "--name", "walk", "--json", ...more];
  keys.set(name, JSON.parse(await gateway.cli(...args)).secret);
}

function native(version: string, model: string): { path: string; body: object } {
  return {
    path: `/${version}/models/${model}:generateContent`,
    body: { contents: [{ role: "user", parts: [{ text: "a lighthouse" }] }] },
  };
}

/** Returns the sandbox's models under other names, with and without a price. */
function yaml(): string {
  const route = (model: string) => ({ targets: [{ channel: "sandbox", upstream_model: model }] });
  const text = { max_output_tokens: 1_000 };
  const image = {
    type: "image",
    image: {
      size_mode: "table",
      tiers: ["1K"],
      ratios: ["1:1"],
      sizes: { "1K": { "1:1": "1024x1024" } },
      qualities: [],
      formats: ["png"],
      backgrounds: [],
      max_images_per_call: 4,
    },
  };
  const tokenPrice = { price: { currency: "USD", per_million: { input: "1", output: "1" } } };
  const imagePrice = { price: { currency: "USD", per_image: { "1K": { "*": "0.05" } } } };
  const models = ["house", "unpriced"].flatMap((group) => {
    const isPriced = group === "house";
    return [
      [
        `${group}-embedding`,
        {
          type: "embedding",
          dimensions: 8,
          ...(isPriced && tokenPrice),
          route: route("sandbox-embedding"),
        },
      ],
      [`${group}-chat`, { ...text, ...(isPriced && tokenPrice), type: "chat", route: route("sandbox-chat") }],
      [
        `${group}-messages`,
        { ...text, ...(isPriced && tokenPrice), type: "messages", route: route("sandbox-messages") },
      ],
      [`${group}-a`, { ...image, ...(isPriced && imagePrice), family: "A", route: route("sandbox-a") }],
      [`${group}-b`, { ...image, ...(isPriced && imagePrice), family: "B", route: route("sandbox-b-fast") }],
    ];
  });
  return Bun.YAML.stringify({ models: Object.fromEntries(models) }, null, 2);
}
