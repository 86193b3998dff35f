import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { TextCall } from "../../src/gateway/upstreams.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { makeOrder, shippedSettings } from "../support/image-calls.ts";
import { CLIENT, CLIENT_SECRET, startEntra, TENANT } from "../upstreams/entra-tokens.ts";
import { startTokenServer } from "../upstreams/google-tokens.ts";
import { startSimulator, type Hit } from "../upstreams/simulator.ts";

/* A vendor's credential is sent only to the configured address, whatever the vendor responds. Tests every provider. */
const SECRET = "vendor-secret-0123456789abcdef";
const google = await startTokenServer();
const entra = await startEntra();
const elsewhere = await startSimulator(async (_request, response) => {
  await response.start(200, { "content-type": "application/json", "content-length": "2" });
  await response.write("{}");
  await response.end();
});
const redirection = { status: 307 };
const vendor = await startSimulator((_request, response) => redirect(response));
const other = await startSimulator((_request, response) => redirect(response));

async function redirect(response: Parameters<Parameters<typeof startSimulator>[0]>[1]): Promise<void> {
  await response.start(redirection.status, { location: `${elsewhere.url}/caught`, "content-length": "0" });
  await response.end();
}

const servers = [google, entra, elsewhere, vendor, other];
afterAll(() => Promise.all(servers.map((server) => server.close())));
beforeEach(() => servers.forEach((server) => server.reset()));

/** Vendors of pictures, with their shipped settings and models. */
const shipped = await shippedSettings(
  Object.fromEntries(
    ["OPENAI_API_KEY", "GEMINI_API_KEY", "ARK_API_KEY", "XAI_API_KEY", "BFL_API_KEY", "DASHSCOPE_API_KEY"]
      .concat("FAL_KEY", "REPLICATE_API_TOKEN", "OPENROUTER_API_KEY")
      .map((name) => [name, SECRET]),
  ),
);

/**
 * Settings by provider: settings that the provider needs besides a key, and settings for other forms of a credential.
 */
const SETTINGS: Readonly<Record<string, object>> = {
  ark: { region: "cn" },
  dashscope: { region: "cn" },
  vertex: { apiKey: google.accountKey },
  "azure by application": {
    apiKey: undefined,
    tenantId: TENANT,
    clientId: CLIENT,
    clientSecret: CLIENT_SECRET,
    authorityUrl: entra.url,
  },
  "azure by machine": { apiKey: undefined, metadataUrl: entra.url },
  "bedrock by signature": { apiKey: undefined, accessKeyId: "AKIASIMULATED", secretAccessKey: SECRET },
};
const VARIANTS = Object.keys(SETTINGS).filter((name) => name.includes(" "));
const NAMES = [...PROVIDERS.keys()].filter((name) => name !== "sandbox").concat(VARIANTS);

function open(name: string, baseUrl: string, apiKey = SECRET) {
  const provider = PROVIDERS.get(name.split(" ")[0]!)!;
  const settings = { ...Object(shipped.channels.get(name)?.settings), baseUrl, apiKey, ...SETTINGS[name] };
  return provider.open(provider.settings.parse(settings), new FairSemaphore(2));
}

/** Calls every method of a channel. Each call must fail. */
async function callAll(
  name: string,
  { text = [], image, embedding }: ReturnType<typeof open>,
): Promise<void> {
  const { signal } = new AbortController();
  const call = (isStream: boolean): TextCall => ({
    raw: JSON.stringify({ model: "claude-m", max_tokens: 8, messages: [{ role: "user", content: "hi" }] }),
    upstreamModel: "claude-m",
    isStream,
    headers: {},
    signal,
  });
  const order = orderFor(name);
  const calls = [
    ...text.flatMap((each) => [false, true].map((isStream) => () => each.send(call(isStream)))),
    ...text.map((each) => () => each.countTokens?.(call(false)) ?? Promise.reject()),
    () => (order && image ? image.generate(order, signal) : Promise.reject()),
    () => embedding?.embed({ ...call(false), texts: ["hi"], dimensions: null }) ?? Promise.reject(),
  ];
  const outcomes = await Promise.allSettled<unknown>(calls.map((each) => each()));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toEqual([]);
}

/** Returns an order for an image model that is shipped with the channel; null if there is none. */
function orderFor(name: string) {
  for (const [id, { targets }] of shipped.routes.declared) {
    const model = shipped.models.get(id);
    const target = targets.find(({ channel }) => channel.id === name);
    if (model?.type === "image" && target) return makeOrder(model, target.upstreamModel);
  }
  return null;
}

const hasCredential = ({ headers }: Hit) =>
  [
    headers["authorization"],
    headers["x-api-key"],
    headers["api-key"],
    headers["x-goog-api-key"],
    headers["x-key"],
  ].some(Boolean);

describe.each(NAMES)("%s", (name) => {
  test("follows no redirect", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      redirection.status = status;
      await callAll(name, open(name, vendor.url));
    }
    expect(vendor.hits.some(hasCredential)).toBe(true);
    expect(elsewhere.hits.map(({ path }) => path)).toEqual([]);
  });

  test("sends each channel's credential to its own address", async () => {
    const first = open(name, vendor.url, SETTINGS[name] ? undefined : `${SECRET}-1`);
    const changed = open(name, other.url, SETTINGS[name] ? undefined : `${SECRET}-2`);
    await Promise.all([callAll(name, first), callAll(name, changed)]);
    const seen = (hits: readonly Hit[]) => JSON.stringify(hits.map(({ headers }) => headers));
    expect(seen(vendor.hits)).not.toContain(`${SECRET}-2`);
    expect(seen(other.hits)).not.toContain(`${SECRET}-1`);
    const granted = [...google.granted, ...entra.granted];
    const shared = granted.filter(
      (token) => seen(vendor.hits).includes(token) && seen(other.hits).includes(token),
    );
    expect(shared).toEqual([]);
  });
});

test("a token server cannot pass on what proves an identity", async () => {
  for (const name of ["vertex", "azure by application", "azure by machine"]) {
    const server = name === "vertex" ? google : entra;
    server.respondBy(() => ({ fault: "redirect", text: `${elsewhere.url}/caught` }));
    await callAll(name, open(name, vendor.url));
    server.respondBy(() => undefined);
    expect(server.hits.length).toBeGreaterThan(0);
  }
  expect([vendor.hits.length, elsewhere.hits.length]).toEqual([0, 0]);
});
