import { afterAll, expect, test } from "bun:test";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { listModels, PROVIDERS } from "../../src/providers/registry.ts";
import { signIn } from "../support/administration.ts";
import { startTestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY as ANTHROPIC_KEY, startAnthropic } from "../upstreams/anthropic.ts";
import { SIMULATED_KEY as FAL_KEY, startFal } from "../upstreams/fal.ts";
import { SIMULATED_KEY as GEMINI_KEY, startGemini } from "../upstreams/gemini.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";

/* The models that a vendor offers, from its own list, within bounds. */

const vendors = {
  openai: await startOpenAi(),
  anthropic: await startAnthropic(),
  gemini: await startGemini(),
  fal: await startFal(),
};
let answer = (): Response => new Response(null, { status: 500 });
const house = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => answer() });
afterAll(async () => {
  await Promise.all(Object.values(vendors).map((vendor) => vendor.close()));
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

test("a vendor without a list has none", async () => {
  expect(await list("fal", { baseUrl: vendors.fal.url, apiKey: FAL_KEY })).toBeNull();
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
  });
  answer = () => Response.json({ error: { message: "no" } }, { status: 401 });
  const refused = await admin.act("POST", "/channels/house/models", {});
  expect(refused).toMatchObject({ models: null, message: expect.stringContaining("refuses the credential") });
  expect((await admin.send("POST", "/channels/nobody/models", {})).status).toBe(404);
  const { data } = await admin.act("GET", "/audit?action=list%20models");
  expect(data).toHaveLength(2);
  expect(data[0]).toMatchObject({ kind: "channel", subject: "house", actor: "admin" });
}, 30_000);
