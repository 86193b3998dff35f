import { afterAll, describe, expect, test } from "bun:test";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { PROVIDERS, probeChannel } from "../../src/providers/registry.ts";
import { SIMULATED_KEY as ANTHROPIC_KEY, startAnthropic } from "../upstreams/anthropic.ts";
import { SIMULATED_KEY as ARK_KEY, startArk } from "../upstreams/ark.ts";
import { SIMULATED_KEY as AZURE_KEY, startAzure } from "../upstreams/azure.ts";
import { SIMULATED_API_KEY as BEDROCK_KEY, startBedrock } from "../upstreams/bedrock.ts";
import { SIMULATED_KEY as BFL_KEY, startBfl } from "../upstreams/bfl.ts";
import { COMPATIBLE_KEY, startCompatible } from "../upstreams/compatible.ts";
import { SIMULATED_KEY as FAL_KEY, startFal } from "../upstreams/fal.ts";
import { SIMULATED_KEY as GEMINI_KEY, startGemini, startVertex } from "../upstreams/gemini.ts";
import { startTokenServer } from "../upstreams/google-tokens.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import { SIMULATED_KEY as OPENROUTER_KEY, startOpenRouter } from "../upstreams/openrouter.ts";
import { SIMULATED_KEY as REPLICATE_KEY, startReplicate } from "../upstreams/replicate.ts";
import { SIMULATED_KEY as XAI_KEY, startXai } from "../upstreams/xai.ts";

/* The probe of each provider accepts valid credentials, uses the vendor's own paths, and costs nothing. */

const tokens = await startTokenServer();
const vendors = {
  openai: await startOpenAi(),
  anthropic: await startAnthropic(),
  gemini: await startGemini(),
  vertex: await startVertex({ accepts: (token) => tokens.granted.includes(token) }),
  azure: await startAzure(),
  bedrock: await startBedrock(),
  ark: await startArk(),
  bfl: await startBfl(),
  replicate: await startReplicate(),
  fal: await startFal(),
  openrouter: await startOpenRouter(),
  xai: await startXai(),
  compatible: await startCompatible(),
};
afterAll(() => Promise.all([tokens, ...Object.values(vendors)].map((vendor) => vendor.close())));

const compatible = (persona: string, path: string) => ({
  vendor: vendors.compatible,
  base: `/${persona}${path}`,
  key: COMPATIBLE_KEY,
});

interface Subject {
  vendor: (typeof vendors)[keyof typeof vendors];
  /** Path that precedes the vendor's own paths. */
  base: string;
  key: string;
  settings?: object;
}

const SUBJECTS: Readonly<Record<string, Subject>> = {
  openai: { vendor: vendors.openai, base: "/v1", key: OPENAI_KEY },
  anthropic: { vendor: vendors.anthropic, base: "", key: ANTHROPIC_KEY },
  gemini: { vendor: vendors.gemini, base: "", key: GEMINI_KEY },
  azure: { vendor: vendors.azure, base: "", key: AZURE_KEY },
  bedrock: { vendor: vendors.bedrock, base: "", key: BEDROCK_KEY },
  ark: { vendor: vendors.ark, base: "/api/v3", key: ARK_KEY },
  bfl: { vendor: vendors.bfl, base: "/v1", key: BFL_KEY },
  replicate: { vendor: vendors.replicate, base: "/v1", key: REPLICATE_KEY },
  fal: { vendor: vendors.fal, base: "", key: FAL_KEY },
  openrouter: { vendor: vendors.openrouter, base: "/api/v1", key: OPENROUTER_KEY },
  xai: { vendor: vendors.xai, base: "/v1", key: XAI_KEY },
  deepseek: compatible("deepseek", ""),
  zhipu: compatible("zhipu", "/api/paas/v4"),
  together: compatible("together", "/v1"),
  dashscope: { vendor: vendors.compatible, base: "/api/v1", key: COMPATIBLE_KEY },
};

async function probe(provider: string, settings: object): Promise<UpstreamError | null> {
  const channel = { id: "probed", provider, settings: PROVIDERS.get(provider)!.settings.parse(settings) };
  try {
    await probeChannel(channel, AbortSignal.timeout(5000));
    return null;
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
}

for (const [provider, { vendor, base, key, settings }] of Object.entries(SUBJECTS))
  describe(`the probe of ${provider}`, () => {
    const at = (apiKey: string, baseUrl = vendor.url + base) => ({ baseUrl, apiKey, ...settings });

    test("passes with address and credential, and makes nothing", async () => {
      vendor.reset();
      expect(await probe(provider, at(key))).toBeNull();
      expect(vendor.totals.pictures).toBe(0);
      expect(vendor.hits.length).toBeLessThanOrEqual(2);
    });

    test("fails by a wrong credential, which is in no message", async () => {
      const wrong = `${key.slice(0, -4)}zzzz`;
      const error = await probe(provider, at(wrong));
      expect(error).toMatchObject({ kind: "account" });
      expect(Bun.inspect(error)).not.toContain(wrong);
    });

    test("fails by a wrong address", async () => {
      expect(await probe(provider, at(key, "http://127.0.0.1:9"))).toMatchObject({ kind: "unreachable" });
    });
  });

test("the probe of vertex counts tokens of a request with an access token", async () => {
  const settings = { baseUrl: vendors.vertex.url, apiKey: tokens.accountKey };
  expect(await probe("vertex", settings)).toBeNull();
  expect(vendors.vertex.hits.at(-1)?.path).toEndWith(":countTokens");
  expect(await probe("vertex", { ...settings, project: "another" })).not.toBeNull();
});

test("the sandbox always passes", async () => {
  expect(await probe("sandbox", {})).toBeNull();
});
