import { z } from "zod";
import type { ProviderDescription } from "../admin/configuration/store-port.ts";
import type { Channel } from "../domain/channel.ts";
import type { EmbeddingUpstream, ImageUpstream, TextUpstream, Upstreams } from "../gateway/upstreams.ts";
import { snakeCase } from "../lib/casing.ts";
import { NetworkGuard } from "../lib/network-guard.ts";
import { isSecretName } from "../lib/secret-names.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";
import { anthropic } from "./anthropic.ts";
import { ark } from "./ark.ts";
import { azure } from "./azure/index.ts";
import { bedrock } from "./bedrock/index.ts";
import { bfl } from "./bfl.ts";
import { dashscope } from "./dashscope.ts";
import { fal } from "./fal.ts";
import { gemini } from "./gemini.ts";
import { compatibleProvider } from "./openai-compatible/compatible-provider.ts";
import { VENDORS } from "./openai-compatible/vendors.ts";
import { openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import type { Provider } from "./provider.ts";
import { replicate } from "./replicate.ts";
import { sandbox } from "../sandbox/index.ts";
import { guarded } from "./transport/network.ts";
import { vertex } from "./vertex/index.ts";
import { xai } from "./xai.ts";

/** A provider without the type of its settings. */
interface RegisteredProvider extends Pick<
  Provider<unknown>,
  "name" | "title" | "documentation" | "settings"
> {
  serves: readonly ("text" | "embeddings" | "images")[];
  open(
    settings: unknown,
    codecSlots: FairSemaphore,
  ): { text?: readonly TextUpstream[]; image?: ImageUpstream; embedding?: EmbeddingUpstream };
  probe(settings: unknown, signal: AbortSignal): Promise<void>;
  models: ((settings: unknown, signal: AbortSignal) => Promise<string[]>) | undefined;
}

/** All providers. A new provider needs a line here, and a file or a row in the table of compatible vendors. */
export const PROVIDERS: ReadonlyMap<string, RegisteredProvider> = new Map([
  register(sandbox),
  register(openai),
  register(anthropic),
  register(azure),
  register(bedrock),
  register(gemini),
  register(vertex),
  register(ark),
  register(xai),
  register(bfl),
  register(dashscope),
  register(fal),
  register(replicate),
  register(openrouter),
  ...[
    VENDORS.deepseek,
    VENDORS.moonshot,
    VENDORS.zhipu,
    VENDORS.minimax,
    VENDORS.mistral,
    VENDORS.groq,
    VENDORS.together,
    VENDORS.fireworks,
    VENDORS.vllm,
    VENDORS.sglang,
    VENDORS.ollama,
    VENDORS.lmstudio,
  ].map((vendor) => register(compatibleProvider(vendor))),
]);

/** The upstreams of the open channels. A request keeps its channel even when a reload replaces the channel. */
export interface OpenedUpstreams extends Upstreams {
  /** Opens the channels that are not open yet. If a channel cannot be opened, throws and opens none. */
  open(channels: Iterable<Channel>): void;
}

/** Opens each channel once. The upstreams of a channel exist as long as the channel object is referenced. */
export function openUpstreams(channels: Iterable<Channel>, codecSlots: FairSemaphore): OpenedUpstreams {
  const opened = new WeakMap<Channel, ReturnType<RegisteredProvider["open"]>>();
  const upstreams: OpenedUpstreams = {
    open(added) {
      const entries = [...added].flatMap((channel) => {
        const registered = opened.has(channel) ? undefined : PROVIDERS.get(channel.provider);
        return registered ? [{ channel, upstream: openChannel(registered, channel, codecSlots) }] : [];
      });
      for (const { channel, upstream } of entries) opened.set(channel, upstream);
    },
    text: (channel) => opened.get(channel)?.text,
    image: (channel) => opened.get(channel)?.image,
    embedding: (channel) => opened.get(channel)?.embedding,
  };
  upstreams.open(channels);
  return upstreams;
}

function openChannel(
  registered: RegisteredProvider,
  { settings, networks }: Channel,
  codecSlots: FairSemaphore,
): ReturnType<RegisteredProvider["open"]> {
  const opened = registered.open(settings, codecSlots);
  if (!networks) return opened;
  const guard = new NetworkGuard(networks);
  const { text, image, embedding } = opened;
  return {
    text: guarded(text, guard),
    image: guarded(image, guard),
    embedding: guarded(embedding, guard),
  };
}

/** Calls the vendor of a channel with its address and credential. Throws an `UpstreamError`, or the signal's reason. */
export async function probeChannel(
  { provider, settings, networks }: Channel,
  signal: AbortSignal,
): Promise<void> {
  const registered = PROVIDERS.get(provider);
  if (!registered) return;
  const { probe } = networks ? guarded(registered, new NetworkGuard(networks)) : registered;
  await probe(settings, signal);
}

/**
 * Reads the vendor's list of models with the channel's address and credential. Returns null for a vendor without a
 * list. Throws an `UpstreamError`, or the signal's reason.
 */
export async function listModels(
  { provider, settings, networks }: Channel,
  signal: AbortSignal,
): Promise<string[] | null> {
  const registered = PROVIDERS.get(provider);
  if (!registered) return null;
  const { models } = networks ? guarded(registered, new NetworkGuard(networks)) : registered;
  return models ? await models(settings, signal) : null;
}

/** Describes every provider, for the console's form of a channel. */
export function describeProviders(): ProviderDescription[] {
  return [...PROVIDERS.values()].map(({ name, title, documentation, settings, models }) => {
    const schema = z.toJSONSchema(settings, { io: "input", unrepresentable: "any" });
    const { baseUrl, apiKey, headers, region, ...rest } = schema.properties ?? {};
    const required = (schema.required ?? []).filter((each) => Object.hasOwn(rest, each));
    const isRequired = (field: string): boolean => (schema.required ?? []).includes(field);
    return {
      name,
      title,
      documentation,
      settings: {
        type: "object",
        properties: mapValues(rest, markSecret),
        required,
        additionalProperties: false,
      },
      credential:
        apiKey === undefined ? "none" : isRequired("apiKey") && !isNullable(apiKey) ? "required" : "optional",
      defaultBaseUrl: defaultOf(baseUrl),
      needsBaseUrl: isRequired("baseUrl"),
      hasRegion: region !== undefined,
      regions: typeof region === "object" && region.enum ? region.enum.map(String) : null,
      hasHeaders: headers !== undefined,
      listsModels: models !== undefined,
    };
  });
}

/** Marks the field of a secret, so that a form does not show its text. */
function markSecret(part: z.core.JSONSchema._JSONSchema, name: string): z.core.JSONSchema._JSONSchema {
  return typeof part === "object" && isSecretName(snakeCase(name)) ? { ...part, writeOnly: true } : part;
}

function mapValues<Value>(
  entries: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, map(value, name)]));
}

type Part = z.core.JSONSchema._JSONSchema | undefined;

function defaultOf(part: Part): string | null {
  return typeof part === "object" && typeof part.default === "string" ? part.default : null;
}

function isNullable(part: Part): boolean {
  return (
    typeof part === "object" &&
    (part.anyOf ?? []).some((each) => typeof each === "object" && each.type === "null")
  );
}

function register<Settings>(provider: Provider<Settings>): [string, RegisteredProvider] {
  const { name, title, documentation, settings, text, image, embedding, models: list } = provider;
  const open: RegisteredProvider["open"] = (value, codecSlots) => {
    const parsed = settings.parse(value);
    return { text: text?.(parsed), image: image?.(parsed, codecSlots), embedding: embedding?.(parsed) };
  };
  const probe: RegisteredProvider["probe"] = (value, signal) => provider.probe(settings.parse(value), signal);
  const models: RegisteredProvider["models"] =
    list && ((value, signal) => list.call(provider, settings.parse(value), signal));
  const serves = [
    ...(text ? (["text"] as const) : []),
    ...(embedding ? (["embeddings"] as const) : []),
    ...(image ? (["images"] as const) : []),
  ];
  return [name, { name, title, documentation, settings, serves, open, probe, models }];
}
