import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { imageModel, makeOrder, never, shippedSettings } from "../support/image-calls.ts";

/** Settings besides address and key. Every provider that needs such settings must be listed here. */
const OWN_SETTINGS: Readonly<Record<string, (url: string) => object>> = {
  azure: () => ({ surface: "v1" }),
  bedrock: () => ({ region: "eu-central-1" }),
  vertex: (url) => ({ apiKey: undefined, project: "p", metadataUrl: url }),
};

export const CALLED_PROVIDERS: readonly string[] = [...PROVIDERS.keys()].filter((name) => name !== "sandbox");

/** Response of Vertex's metadata server, which has the vendor's address here. */
export const MACHINE_TOKEN = {
  path: "computeMetadata",
  answer: { access_token: "token", expires_in: 3_600 },
};

const settings = await shippedSettings({});
const { model } = imageModel(settings, "sandbox-a");
const raw = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }], max_tokens: 8 });

/** Returns one call of each kind that a provider offers, to a vendor at this address. */
export function callsOf(name: string, url: string): [what: string, call: () => Promise<unknown>][] {
  const opened = PROVIDERS.get(name)!.open(
    { baseUrl: url, apiKey: "key", pollIntervalMs: 5, ...OWN_SETTINGS[name]?.(url) },
    new FairSemaphore(2),
  );
  const text = { raw, upstreamModel: "m", headers: {}, signal: never };
  const { image, embedding } = opened;
  return [
    ...(opened.text ?? []).map((upstream): [string, () => Promise<unknown>] => [
      `text of ${upstream.dialect}`,
      () => upstream.send({ ...text, isStream: false }),
    ]),
    ...(image ? [["pictures", () => image.generate(makeOrder(model, "m"), never)] as never] : []),
    ...(embedding
      ? [["embeddings", () => embedding.embed({ ...text, texts: ["x"], dimensions: null })] as never]
      : []),
  ];
}
