import { afterAll, expect, test } from "bun:test";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { describeProviders, listModels, PROVIDERS } from "../../src/providers/registry.ts";
import { signIn } from "../support/administration.ts";
import { startTestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY as ANTHROPIC_KEY, startAnthropic } from "../upstreams/anthropic.ts";
import { MODELS as ARK_MODELS } from "../upstreams/ark/models.table.ts";
import { SIMULATED_KEY as ARK_KEY, startArk } from "../upstreams/ark.ts";
import { SIMULATED_KEY as AZURE_KEY, startAzure } from "../upstreams/azure.ts";
import { SIMULATED_ACCESS_KEY, SIMULATED_API_KEY, startBedrock } from "../upstreams/bedrock.ts";
import { SIMULATED_KEY as BFL_KEY, startBfl } from "../upstreams/bfl.ts";
import { MODELS as FAL_MODELS } from "../upstreams/fal-models.ts";
import { SIMULATED_KEY as FAL_KEY, startFal } from "../upstreams/fal.ts";
import { SIMULATED_KEY as GEMINI_KEY, startGemini, startVertex } from "../upstreams/gemini.ts";
import { startTokenServer } from "../upstreams/google-tokens.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import { SIMULATED_KEY as REPLICATE_KEY, startReplicate } from "../upstreams/replicate.ts";

/* Reads a vendor's list of models, within limits. */

const tokens = await startTokenServer();
const vendors = {
  ark: await startArk(),
  azure: await startAzure(),
  bedrock: await startBedrock(),
  bfl: await startBfl(),
  replicate: await startReplicate(),
  vertex: await startVertex({ accepts: (token) => tokens.granted.includes(token) }),
  openai: await startOpenAi(),
  anthropic: await startAnthropic(),
  gemini: await startGemini(),
  fal: await startFal(),
};
let answer = (): Response => new Response(null, { status: 500 });
const house = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => answer() });
afterAll(async () => {
  await Promise.all([tokens, ...Object.values(vendors)].map((vendor) => vendor.close()));
  await house.stop(true);
});

async function list(provider: string, settings: object, networks?: string[]) {
  const parsed = PROVIDERS.get(provider)!.settings.parse(settings);
  const channel = { id: "asked", provider, settings: parsed, ...(networks && { networks }) };
  return await listModels(channel, AbortSignal.timeout(5_000)).catch((error: unknown) => {
    if (error instanceof UpstreamError) return error.kind;
    throw error;
  });
}

test.each([
  ["openai", { baseUrl: `${vendors.openai.url}/v1`, apiKey: OPENAI_KEY }, "gpt-image-2"],
  ["anthropic", { baseUrl: vendors.anthropic.url, apiKey: ANTHROPIC_KEY }, "claude-haiku-4-5"],
  ["gemini", { baseUrl: vendors.gemini.url, apiKey: GEMINI_KEY }, "gemini-2.5-flash"],
])("%s lists its models to its credential alone", async (provider, settings, model) => {
  expect(await list(provider, settings)).toContain(model);
  expect(await list(provider, { ...settings, apiKey: "wrong-wrong-wrong" })).toBe("account");
});

const CLAUDE = [
  "anthropic.claude-haiku-4-5-20251001-v1:0",
  "global.anthropic.claude-haiku-4-5-20251001-v1:0",
  "global.anthropic.claude-opus-5",
];
const access = { ...SIMULATED_ACCESS_KEY, region: "eu-central-1" };

test.each([
  ["bedrock", { baseUrl: vendors.bedrock.url, apiKey: SIMULATED_API_KEY }, { apiKey: "wrong" }, CLAUDE],
  ["bedrock", { baseUrl: vendors.bedrock.url, ...access }, { secretAccessKey: "wrong" }, CLAUDE],
  [
    "ark",
    { baseUrl: `${vendors.ark.url}/api/v3`, apiKey: ARK_KEY },
    { apiKey: "wrong" },
    Object.keys(ARK_MODELS.cn).toSorted(),
  ],
  [
    "replicate",
    { baseUrl: `${vendors.replicate.url}/v1`, apiKey: REPLICATE_KEY },
    { apiKey: "wrong" },
    expect.arrayContaining(["black-forest-labs/flux-2-pro", "google/nano-banana-pro"]),
  ],
  [
    "fal",
    { baseUrl: vendors.fal.url, apiKey: FAL_KEY },
    { apiKey: "wrong" },
    Object.keys(FAL_MODELS).toSorted(),
  ],
])("%s lists the models that can be called, all pages of them", async (provider, settings, wrong, names) => {
  expect(await list(provider, settings)).toEqual(names);
  expect(await list(provider, { ...settings, ...wrong })).toBe("account");
});

test("vertex lists Gemini and Claude, with tokens of its account", async () => {
  const settings = { baseUrl: vendors.vertex.url, apiKey: tokens.accountKey };
  const names = ["claude-opus-5", "gemini-2.5-flash", "gemini-3.1-flash-image"];
  expect(await list("vertex", settings)).toEqual(names);
});

test("a vendor without a list has none", async () => {
  expect(await list("azure", { baseUrl: vendors.azure.url, apiKey: AZURE_KEY })).toBeNull();
  expect(await list("bfl", { baseUrl: `${vendors.bfl.url}/v1`, apiKey: BFL_KEY })).toBeNull();
});

test("the console is told which vendors have a list", () => {
  const without = describeProviders().filter(({ listsModels }) => !listsModels);
  expect(without.map(({ name }) => name)).toEqual(["sandbox", "azure", "bfl"]);
});

const own = { baseUrl: `http://127.0.0.1:${house.port}/v1` };

test.each([
  ["in a list of its own", [{ id: "b" }, { id: "a" }, { id: "a" }], ["a", "b"]],
  [
    "among what is no name",
    { data: [{ id: "a b" }, { id: 7 }, null, { id: "x".repeat(201) }, { id: "ok" }] },
    ["ok"],
  ],
  ["by another word", { models: [{ id: "a" }] }, ["a"]],
  ["in no list", { data: "a" }, "broken"],
  ["of too many", { data: Array.from({ length: 9_000 }, (_, index) => ({ id: `m${index}` })) }, 2_000],
  ["in too many bytes", { data: [{ id: "a", text: "x".repeat(9 * 1024 * 1024) }] }, "broken"],
])("names %s", async (_, body, expected) => {
  answer = () => Response.json(body);
  const found = await list("vllm", own);
  if (typeof expected === "number") expect(found).toHaveLength(expected);
  else expect(found as unknown).toEqual(expected);
});

test("a private address is asked only where the channel may call it", async () => {
  answer = () => Response.json({ data: [{ id: "a" }] });
  expect(await list("vllm", own, [])).toBe("unreachable");
  expect(await list("vllm", own, ["127.0.0.0/8"])).toEqual(["a"]);
});

test("the models of a channel are asked for by an operation, which is audited", async () => {
  answer = () => Response.json({ data: [{ id: "house-large" }, { id: "house-small" }] });
  await using gateway = await startTestGateway({
    yaml: `channels: { house: { provider: vllm, base_url: ${own.baseUrl}, credential: none } }`,
  });
  const admin = await signIn(gateway);
  expect(await admin.act("POST", "/channels/house/models", {})).toEqual({
    models: ["house-large", "house-small"],
    message: "The vendor offers 2 models.",
    code: "vendorModels.offered",
    figures: { count: 2 },
  });
  answer = () => Response.json({ error: { message: "no" } }, { status: 401 });
  const refused = await admin.act("POST", "/channels/house/models", {});
  expect(refused).toMatchObject({ models: null, message: expect.stringContaining("refuses the credential") });
  expect((await admin.send("POST", "/channels/nobody/models", {})).status).toBe(404);
  const { data } = await admin.act("GET", "/audit?action=list%20models");
  expect(data).toHaveLength(2);
  expect(data[0]).toMatchObject({ kind: "channel", subject: "house", actor: "admin" });
}, 30_000);
