import { afterAll, expect, test } from "bun:test";
import { exportConfiguration } from "../../src/admin/document/document.ts";
import type { OperationContext } from "../../src/admin/context.ts";
import type { Role } from "../../src/admin/roles.ts";
import type { Channel } from "../../src/domain/channel.ts";
import { NetworkGuard } from "../../src/lib/network-guard.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { createFetchResult } from "../../src/providers/transport/result-link.ts";
import { guarded } from "../../src/providers/transport/network.ts";
import { openUpstreams, probeChannel, PROVIDERS } from "../../src/providers/registry.ts";
import { createChannel, importConfiguration, testChannel, updateChannel } from "../support/admin-calls.ts";
import { refusal } from "../support/admin-context.ts";
import { openAdministration } from "../support/configuration.ts";
import { imageModel, makeOrder, never, shippedSettings } from "../support/image-calls.ts";
import { testSpool } from "../support/spool.ts";

/* Every call of a provider may connect only to addresses that the channel's networks allow. */

let hits = 0;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => {
    hits += 1;
    return Response.json(
      { error: { message: "unknown model", type: "invalid_request_error" } },
      { status: 404 },
    );
  },
});
afterAll(() => server.stop(true));
const url = `http://127.0.0.1:${server.port}`;

const ACCOUNT = {
  type: "service_account",
  client_email: "a@b.example",
  private_key: await privateKey(),
  token_uri: `${url}/token`,
  project_id: "project",
};

/** Settings of providers that need more than an address and a key, with all addresses at the test server. */
const SETTINGS: Readonly<Record<string, readonly object[]>> = {
  vertex: [
    { baseUrl: url, project: "project", metadataUrl: url },
    { baseUrl: url, apiKey: JSON.stringify(ACCOUNT) },
  ],
  azure: [
    { baseUrl: url, apiKey: "k" },
    { baseUrl: url, metadataUrl: url },
    { baseUrl: url, authorityUrl: url, tenantId: "t", clientId: "c", clientSecret: "s" },
  ],
};

const { model } = imageModel(await shippedSettings({ OPENAI_API_KEY: "k" }), "gpt-image-2");
const providers = [...PROVIDERS.keys()].filter((name) => name !== "sandbox");

test.each(providers)("%s", async (provider) => {
  const all = SETTINGS[provider] ?? [{ baseUrl: url, apiKey: "k" }];
  for (const given of all) {
    const settings = PROVIDERS.get(provider)!.settings.parse(given);
    hits = 0;
    expect(await refusals(callsOf({ id: "c", provider, settings, networks: [] }))).not.toContain("");
    expect(hits).toBe(0);
    const allowed = { id: "c", provider, settings, networks: ["127.0.0.0/8"] };
    await refusals(callsOf(allowed).slice(0, 1));
    expect(hits).toBeGreaterThan(0);
  }
});

test("a result on the channel's own address is not fetched either", async () => {
  const fetchResult = (networks: string[]) =>
    guarded({ fetch: createFetchResult(url) }, new NetworkGuard(networks)).fetch(
      `${url}/a.png`,
      testSpool,
      never,
    );
  hits = 0;
  expect(await refusals([() => fetchResult([])])).not.toContain("");
  expect(hits).toBe(0);
});

const NOT_ALLOWED = expect.stringContaining("leads to an address that is not allowed");
const PRIVATE = "http://127.0.0.1:9/v1";
const METADATA = "http://169.254.169.254/v1";
const allowing = "server: { allowed_networks: [127.0.0.0/8] }";

test.each([
  ["owner", "", PRIVATE, null],
  ["owner", allowing, METADATA, 400],
  ["owner", "", "http://[::ffff:a9fe:a9fe]/v1", 400],
  ["admin", "", PRIVATE, 400],
  ["admin", "", "http://localhost:9/v1", 400],
  ["admin", "", "http://[::1]:9/v1", 400],
  ["admin", allowing, PRIVATE, null],
  ["admin", allowing, "http://10.0.0.1:9/v1", 400],
  ["admin", allowing, METADATA, 400],
] as const)(
  "an %s with the file '%s' gives a channel the address %s: %p",
  async (role, yaml, baseUrl, refused) => {
    await using administration = await openAdministration();
    const context = { ...(await administration.as({ yaml })), ...signedInAs(role) };
    const owner = { ...context, ...signedInAs("owner") };
    const channel = { provider: "ollama", credential: "k" };
    await createChannel(owner, { ...channel, id: "changed", baseUrl: "http://127.0.0.1:8/v1" });
    const messagesBaseUrl = { baseUrl: "https://8.8.8.8/v1", settings: { messagesBaseUrl: baseUrl } };
    const document = context.configuration.writeYaml({
      channels: { made: { provider: "ollama", base_url: baseUrl, settings: {} } },
    });
    const acts: [() => Promise<unknown>, field: string][] = [
      [() => createChannel(context, { ...channel, id: "made", baseUrl }), "baseUrl"],
      [
        () => createChannel(context, { ...channel, id: "beside", ...messagesBaseUrl }),
        "settings.messagesBaseUrl",
      ],
      [() => updateChannel(context, "changed", { baseUrl, credential: "k" }), "baseUrl"],
      [() => testChannel(context, { ...channel, baseUrl }), "baseUrl"],
      [() => testChannel(context, { id: "changed", baseUrl, credential: "k" }), "baseUrl"],
      // Only owners may import.
      ...(role === "owner"
        ? [[() => importConfiguration(context, { yaml: document }), "baseUrl"] as never]
        : []),
    ];
    for (const [act, field] of acts)
      if (refused) expect(await refusal(act())).toEqual([refused, field, NOT_ALLOWED]);
      else await act();
  },
);

test("an address keeps the rights of the member who chose it", async () => {
  await using administration = await openAdministration();
  const { context } = administration;
  const [owner, admin] = [
    { ...context, ...signedInAs("owner") },
    { ...context, ...signedInAs("admin") },
  ];
  const networksOf = async (id: string) =>
    (await context.configuration.read(await context.store.configuration.list())).channels.get(id)?.channel
      ?.networks;
  const channel = { provider: "ollama", credential: "k" };
  await createChannel(owner, { ...channel, id: "owners", baseUrl: PRIVATE });
  await updateChannel(admin, "owners", { maxConcurrent: 2 });
  expect(await networksOf("owners")).toEqual(["0.0.0.0/0", "::/0"]);
  await createChannel(admin, { ...channel, id: "admins", baseUrl: "https://8.8.8.8/v1" });
  await updateChannel(owner, "admins", { maxConcurrent: 2 });
  expect(await networksOf("admins")).toEqual([]);
  await updateChannel(admin, "owners", { baseUrl: "https://8.8.8.8/v1", credential: "k" });
  expect(await networksOf("owners")).toEqual([]);
  // The provider's default address is private.
  expect(await refusal(createChannel(admin, { ...channel, id: "own" }))).toEqual([
    400,
    "baseUrl",
    NOT_ALLOWED,
  ]);
  await createChannel(owner, { ...channel, id: "own" });
  const { yaml } = await exportConfiguration(context);
  expect(yaml).not.toContain("private_networks");
});

test("the mask keeps a secret in every field that may have one, and is never one itself", async () => {
  await using administration = await openAdministration();
  const { context } = administration;
  const MASK = "********";
  const entryOf = async (id: string) =>
    (await context.store.configuration.list()).find((entry) => entry.id === id)!.value;
  const secrets = {
    credential: "sk-a-credential",
    headers: { "x-api-key": "a-key", "x-title": "plain" },
    settings: { clientSecret: "a-secret" },
  };
  const given = { id: "masked", provider: "azure", baseUrl: "https://8.8.8.8", ...secrets };
  const fields: [change: object, field: string][] = [
    [{ credential: MASK }, "credential"],
    [{ headers: { "x-api-key": MASK } }, "headers.x-api-key"],
    [{ settings: { clientSecret: MASK } }, "settings.clientSecret"],
  ];
  const bare = { id: "bare", provider: "ollama", baseUrl: "https://8.8.8.8" };
  await createChannel(context, bare);
  for (const [change, field] of [...fields, [{ headers: { "x-title": MASK } }, "headers.x-title"] as const]) {
    const message = expect.stringContaining("is masked, and not known here");
    const refused: [number, string, string] = [400, field, message];
    expect(await refusal(updateChannel(context, "bare", change))).toEqual(refused);
    expect(await refusal(createChannel(context, { ...bare, id: "new", ...change }))).toEqual(refused);
  }
  const { settings: _settings, ...known } = given;
  const tenant = { tenantId: "t", clientId: "c", clientSecret: "a-secret" };
  await createChannel(context, known);
  await createChannel(context, { ...known, id: "application", credential: undefined, settings: tenant });
  for (const [id, [change]] of [
    ["masked", fields[0]!],
    ["masked", fields[1]!],
    ["application", fields[2]!],
  ] as const) {
    const before = await entryOf(id);
    await updateChannel(context, id, change);
    expect(await entryOf(id)).toEqual(before);
  }
  const { yaml } = await exportConfiguration(context);
  const before = await entryOf("masked");
  await importConfiguration(context, { yaml });
  expect(await entryOf("masked")).toEqual(before);
  const unknown = yaml.replace("x-title: plain", `x-title: "${MASK}"`);
  expect(unknown).not.toBe(yaml);
  expect((await refusal(importConfiguration(context, { yaml: unknown })))[0]).toBe(400);
});

test("each test of a channel is audited with its address", async () => {
  await using administration = await openAdministration();
  const context = { ...administration.context, ...signedInAs("owner") };
  expect(await testChannel(context, { provider: "ollama", baseUrl: PRIVATE })).toMatchObject({ ok: false });
  expect(await context.store.audit.list({ limit: 1 })).toMatchObject([
    { kind: "channel", action: "test", subject: "ollama", after: { provider: "ollama", address: PRIVATE } },
  ]);
});

function signedInAs(role: Role): Pick<OperationContext, "signedIn"> {
  const organizations = "*" as const;
  const member = { id: "user_m", name: "m", email: null, passwordHash: null, totp: null, identity: null };
  const never = { lastSeenAt: null, createdAt: 1, isDisabled: false, mustChangePassword: false, version: 1 };
  const access = { role, organizations };
  return { signedIn: { member: { ...member, ...never, ...access }, access, session: null } };
}

/** Returns calls for a channel: the probe first, then calls for text, embeddings and pictures. */
function callsOf(channel: Channel): (() => Promise<unknown>)[] {
  const upstreams = openUpstreams([channel], new FairSemaphore(2));
  const raw = JSON.stringify({
    model: "m",
    messages: [{ role: "user", content: "x" }],
    input: "x",
    max_tokens: 9,
  });
  const call = { raw, upstreamModel: "m", isStream: false, headers: {}, signal: never };
  const texts = (upstreams.text(channel) ?? []).flatMap((upstream) => [
    () => upstream.send(call),
    () => upstream.send({ ...call, isStream: true }),
    ...(upstream.countTokens ? [() => upstream.countTokens!(call)] : []),
  ]);
  const embedding = upstreams.embedding(channel);
  const image = upstreams.image(channel);
  return [
    () => probeChannel(channel, never),
    ...texts,
    ...(embedding ? [() => embedding.embed({ ...call, texts: ["x"], dimensions: null })] : []),
    ...(image ? [() => image.generate(makeOrder(model, "m"), never)] : []),
  ];
}

/** Returns the error message of each call; empty for a successful call. */
async function refusals(calls: (() => Promise<unknown>)[]): Promise<string[]> {
  return await Promise.all(
    calls.map((call) =>
      call().then(
        () => "",
        (error: Error) => error.message,
      ),
    ),
  );
}

async function privateKey(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    },
    true,
    ["sign"],
  );
  const bytes = Buffer.from(await crypto.subtle.exportKey("pkcs8", privateKey)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${bytes}\n-----END PRIVATE KEY-----\n`;
}
