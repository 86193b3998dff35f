import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { newMasterKey } from "../../src/lib/seal.ts";
import { newSecret } from "../../src/lib/secret.ts";
import { isInDatabase, signIn } from "../support/administration.ts";
import { untilServing } from "../support/fleet.ts";
import { findPostgres, startPostgres } from "../support/postgres.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import { freePort } from "../support/free-port.ts";

/* Channels and models are changed over HTTP while a gateway serves requests. */

const MASK = "********";
const NO_REFERENCE =
  "must be the value itself: only the configuration file may refer to a variable or a file";
const NEXT_KEY = "sk-simulated-next-0123456789";

test("a channel serves in every worker within a second, changes its credential under load, and goes", async () => {
  await using vendor = await startOpenAi({ otherKeys: [NEXT_KEY] });
  const env = { SANDBOX: "", WORKERS: "2", PORT: String(freePort()) };
  await using gateway = await startTestGateway({ env });
  await untilServing(gateway, 2);
  const admin = await signIn(gateway);
  expect(await chat(gateway)).toBe(400);
  const baseUrl = `${vendor.url}/v1`;
  await admin.act("POST", "/channels", { provider: "openai", baseUrl, credential: SIMULATED_KEY });
  await untilAll(gateway, "gpt-5.4", 200);
  const reloads = gateway.logs().filter((line) => JSON.stringify(line).includes("configuration reloaded"));
  expect(reloads).toHaveLength(2);

  const load = startLoad(gateway);
  await admin.act("PATCH", "/channels/openai", { credential: NEXT_KEY });
  await until("every worker to use the next credential", () => {
    const recent = vendor.hits.slice(-40).map(({ headers }) => headers["authorization"]);
    return (recent.length === 40 && recent.every((sent) => sent === `Bearer ${NEXT_KEY}`)) || undefined;
  });
  expect(await load.stop()).toEqual([]);

  await admin.act("POST", "/channels", { id: "spare", provider: "openai", baseUrl, credential: NEXT_KEY });
  const definition = {
    type: "chat",
    max_output_tokens: 1000,
    price: { per_million: { input: "1", output: "2" } },
  };
  const route = { targets: [{ channel: "spare", upstreamModel: "gpt-4.1" }] };
  await admin.act("POST", "/models", { id: "house", route, definition });
  await untilAll(gateway, "house", 200);
  expect((await admin.send("DELETE", "/channels/openai")).status).toBe(409);
  await admin.act("DELETE", "/channels/openai?force=true");
  await untilAll(gateway, "gpt-5.4", 400);
  expect(await chat(gateway, "house")).toBe(200);
}, 40_000);

test("a header of a channel is stored sealed, shown masked and bound to its address, whatever its name", async () => {
  await using vendor = await startOpenAi();
  const yaml = `
channels:
  declared: { provider: vllm, base_url: "${vendor.url}/v1", credential: none, headers: { x-auth: secret-of-the-file } }
`;
  await using gateway = await startTestGateway({ yaml });
  const owner = await signIn(gateway);
  const password = "twelve or more characters";
  await owner.act("POST", "/members", { name: "viewer", role: "viewer", organizations: "*", password });
  const viewer = await signIn(gateway, { name: "viewer", password });
  const headers = {
    "helicone-auth": "Bearer secret-one",
    "x-session": "secret-two",
    "cf-access-client-id": "secret-three",
    "x-title": "Acme",
  };
  const baseUrl = `${vendor.url}/v1`;
  const channel = { id: "own", provider: "openai", baseUrl, credential: SIMULATED_KEY, headers };
  await owner.act("POST", "/channels", channel);
  const masked = {
    "helicone-auth": MASK,
    "x-session": MASK,
    "cf-access-client-id": MASK,
    "x-title": "Acme",
  };
  expect((await viewer.act("GET", "/channels/own")).headers).toEqual(masked);
  expect((await viewer.act("GET", "/channels/declared")).headers).toEqual({ "x-auth": MASK });

  const { yaml: exported } = await owner.act("GET", "/configuration");
  const changed = exported.replace(`x-session: "${MASK}"`, "x-session: secret-four");
  expect(changed).not.toBe(exported);
  const { changes } = await owner.act("POST", "/configuration", { yaml: changed, isDryRun: true });
  await owner.act("POST", "/configuration", { yaml: changed });
  const shown = [exported, changes, await owner.act("GET", "/audit"), await viewer.act("GET", "/channels")];
  expect(JSON.stringify(shown)).not.toContain("secret-");
  expect(await isInDatabase(gateway, "secret-")).toBe(false);

  const elsewhere = { baseUrl: "http://127.0.0.1:9/v1", credential: SIMULATED_KEY };
  const refused = await owner.send("PATCH", "/channels/own", elsewhere);
  expect([refused.status, refused.body.error.field]).toEqual([400, "headers.helicone-auth"]);
  await owner.act("PATCH", "/channels/own", { ...elsewhere, headers: { ...headers, "x-title": undefined } });
});

test("a stored channel cannot read a variable or a file of the gateway's machine, even one stored earlier", async () => {
  await using vendor = await startOpenAi();
  const variables = {
    SANDBOX: "",
    HOUSE_SECRET: "house-secret-0123456789",
    GATEWAY_MASTER_KEY: newMasterKey(),
  };
  await using first = await startTestGateway({ env: variables });
  const admin = await signIn(first);
  const channel = { provider: "openai", baseUrl: `${vendor.url}/v1`, credential: SIMULATED_KEY };
  await admin.act("POST", "/channels", { ...channel, settings: { organization: "acme" } });
  const references = [
    { env: "HOUSE_SECRET" },
    { env: "NOT_SET" },
    { file: "/etc/hosts" },
    { file: "absent" },
  ];
  for (const reference of references) {
    const settings = { organization: reference };
    const document = { channels: { other: { provider: "openai", settings } } };
    const yaml = JSON.stringify(document);
    const attempts: [method: string, path: string, input: object, field: string][] = [
      ["POST", "/channels", { ...channel, id: "other", settings }, "settings.organization"],
      ["POST", "/channels", { ...channel, id: "other", settings: { apiKey: reference } }, "settings.apiKey"],
      ["POST", "/channels/test", { ...channel, settings }, "settings.organization"],
      ["PATCH", "/channels/openai", { settings }, "settings.organization"],
      ["POST", "/configuration", { yaml }, "channels.other.settings.organization"],
      ["POST", "/configuration", { yaml, isDryRun: true }, "channels.other.settings.organization"],
    ];
    for (const [method, path, input, field] of attempts) {
      const { status, body } = await admin.send(method, path, input);
      const problem = { field, message: NO_REFERENCE, code: "input.stored.reference", figures: {} };
      expect({ method, path, status, error: body.error }).toMatchObject({
        method,
        path,
        status: 400,
        error: { field, message: `${field} ${NO_REFERENCE}`, problems: [problem] },
      });
    }
  }
  const sealed = { id: "other", provider: "azure", settings: { clientSecret: { sealed: "v1.text" } } };
  const refused = await admin.send("POST", "/channels", sealed);
  expect([refused.status, refused.body.error.field]).toEqual([400, "settings.clientSecret"]);
  expect(refused.body.error.message).toBe("settings.clientSecret must be text");

  await first.stop();
  using database = new Database(join(first.dataDirectory, "gateway.sqlite"));
  const stored = `json_set(value, '$.settings.organization', json('{"env":"HOUSE_SECRET"}'))`;
  database.run(`UPDATE configuration SET value = ${stored} WHERE id = 'openai'`);
  database.close();
  const env = { ...variables, GATEWAY_DATA_DIR: first.dataDirectory };
  await using second = await startTestGateway({ env });
  const { data } = await (await signIn(second)).act("GET", "/channels");
  const problems = [`channels.openai.settings.organization ${NO_REFERENCE}`];
  expect(data).toMatchObject([{ id: "openai", isUsable: false, problems }]);
  expect(await chat(second, "gpt-5.4", first.key)).not.toBe(200);
  expect(JSON.stringify(vendor.hits)).not.toContain("house-secret");
}, 30_000);

test("a start with another master key says which channel cannot be opened, and serves the others", async () => {
  await using vendor = await startOpenAi();
  const baseUrl = `${vendor.url}/v1`;
  const channel = { provider: "openai", baseUrl, credential: SIMULATED_KEY };
  await using first = await startTestGateway({ env: { SANDBOX: "", GATEWAY_MASTER_KEY: newMasterKey() } });
  await (await signIn(first)).act("POST", "/channels", channel);
  await first.stop();
  const env = { SANDBOX: "", GATEWAY_DATA_DIR: first.dataDirectory, GATEWAY_MASTER_KEY: newMasterKey() };
  await using second = await startTestGateway({ env });
  const lines = second.logs().map((line) => JSON.stringify(line));
  expect(lines.join("\n")).toContain("channels.openai.credential cannot be opened");
  const admin = await signIn(second);
  const { data } = await admin.act("GET", "/channels");
  expect(data).toMatchObject([{ id: "openai", isUsable: false }]);
  await admin.act("POST", "/channels", { ...channel, id: "other" });
  const definition = {
    type: "chat",
    max_output_tokens: 1000,
    price: { per_million: { input: "1", output: "2" } },
  };
  const route = { targets: [{ channel: "other", upstreamModel: "gpt-4.1" }] };
  await admin.act("POST", "/models", { id: "house", route, definition });
  const key = second.key === first.key ? second.key : first.key;
  expect(await chat(second, "house", key)).toBe(200);
  // A credential that is entered again is encrypted with the current key.
  await admin.act("PATCH", "/channels/openai", { credential: SIMULATED_KEY });
  expect(await chat(second, "gpt-5.4", key)).toBe(200);
  expect(await admin.act("POST", "/channels/test", { id: "openai" })).toMatchObject({ ok: true });
}, 30_000);

test("without the master key of its secrets a gateway seals nothing, and creates nothing whose result it cannot keep", async () => {
  await using first = await startTestGateway({ env: { SANDBOX: "", GATEWAY_MASTER_KEY: newMasterKey() } });
  const channel = { provider: "openai", credential: SIMULATED_KEY };
  await (await signIn(first)).act("POST", "/channels", channel);
  await first.stop();
  await using second = await startTestGateway({
    env: { SANDBOX: "", GATEWAY_DATA_DIR: first.dataDirectory },
  });
  const admin = await signIn(second);
  const refused = await admin.send("PATCH", "/channels/openai", { credential: SIMULATED_KEY });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    409,
    expect.stringMatching(
      /sealed with master key [0-9a-f]{8}, and there is none here: set GATEWAY_MASTER_KEY/,
    ),
  ]);
  const key = { organizationId: "default", name: "once" };
  const created = await admin.send("POST", "/keys", key, { "idempotency-key": "once" });
  expect(created.status).toBe(409);
  const { data } = await admin.act("GET", "/keys?organizationId=default");
  expect(JSON.stringify(data)).not.toContain("once");
}, 30_000);

const postgres = findPostgres();
if ("missing" in postgres) console.warn(`SKIPPED: a channel on two machines (${postgres.missing})`);

test.skipIf("missing" in postgres)(
  "a channel that one machine adds is served by others with the same key",
  async () => {
    if ("missing" in postgres) return;
    const server = await startPostgres(postgres.folder);
    try {
      await using vendor = await startOpenAi();
      const env = {
        SANDBOX: "",
        DATABASE_URL: await server.createDatabase(),
        GATEWAY_BOOTSTRAP_KEY: newSecret(),
        GATEWAY_MASTER_KEY: newMasterKey(),
      };
      await using first = await startTestGateway({ env });
      await using second = await startTestGateway({ env });
      const { GATEWAY_MASTER_KEY: _, ...keyless } = env;
      await using stranger = await startTestGateway({ env: keyless });
      const channel = { provider: "openai", baseUrl: `${vendor.url}/v1`, credential: SIMULATED_KEY };
      await (await signIn(first)).act("POST", "/channels", channel);
      expect(await chat(first)).toBe(200);
      await untilAll(second, "gpt-5.4", 200);
      await until(
        "the third machine to say why it cannot",
        () =>
          stranger.logs().some((line) => JSON.stringify(line).includes("set GATEWAY_MASTER_KEY")) ||
          undefined,
      );
      expect(await chat(stranger)).toBe(503);
      const line = await until("the line of the refused request", () =>
        stranger.logs().find(({ status }) => status === 503),
      );
      expect(line["cause"]).toBe(
        "every channel that serves gpt-5.4 is unusable here; `channels list` says why",
      );
    } finally {
      await server.stop();
    }
  },
  40_000,
);

async function chat(gateway: TestGateway, model = "gpt-5.4", key = gateway.key): Promise<number> {
  const response = await gateway.call("/v1/chat/completions", {
    body: { model, messages: [{ role: "user", content: "Hello" }], max_completion_tokens: 8 },
    headers: { authorization: `Bearer ${key}` },
    keepalive: false,
  });
  await response.text();
  return response.status;
}

/** Waits until many requests on separate connections end with the status. The connections reach every worker. */
async function untilAll(gateway: TestGateway, model: string, status: number): Promise<void> {
  await until(`every worker to respond to ${model} with ${status}`, async () => {
    const statuses = await Promise.all(Array.from({ length: 16 }, () => chat(gateway, model)));
    return statuses.every((each) => each === status) || undefined;
  });
}

/** Sends requests in four concurrent loops. `stop` ends the loops and returns the statuses of failures. */
function startLoad(gateway: TestGateway) {
  const over = new AbortController();
  const failures: number[] = [];
  const lines = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) {
      const status = await chat(gateway);
      if (status !== 200) failures.push(status);
    }
  });
  return {
    async stop(): Promise<number[]> {
      over.abort();
      await Promise.all(lines);
      return failures;
    },
  };
}
