import { z } from "zod";
import type { EmbeddingUpstream, TextUpstream } from "../../gateway/upstreams.ts";
import { createMessagesConnection } from "../messages-compatible/connection.ts";
import { createMessagesText } from "../messages-compatible/text.ts";
import type { Provider } from "../provider.ts";
import {
  extraHeaders,
  headerValue,
  httpAddress,
  optionalCredential,
  withoutEndSlash,
} from "../transport/channel-settings.ts";
import {
  createOpenAiConnection,
  NO_IMAGES,
  type OpenAiConnection,
  type OpenAiSettings,
} from "./connection.ts";
import { createOpenAiEmbeddings } from "./embeddings.ts";
import { listOpenAi, probeOpenAi } from "./probe.ts";
import { createOpenAiResponses } from "./responses.ts";
import { createOpenAiText } from "./text.ts";
import type { CompatibleVendor } from "./vendors.ts";

/** Returns the provider of a vendor that needs no code of its own, only data. */
export function compatibleProvider(vendor: CompatibleVendor): Provider<CompatibleSettings> {
  const settings = z.object({
    baseUrl: httpAddress.default(vendor.baseUrl).describe("Base address before `/chat/completions`"),
    apiKey: vendor.isOwnServer ? optionalCredential.default(null) : headerValue,
    headers: extraHeaders,
    messagesBaseUrl: messagesAddress,
    responses: responsesSetting,
  });
  return {
    name: vendor.name,
    title: vendor.title,
    documentation: vendor.isOwnServer
      ? "A server of your own: its address before /chat/completions, and its key if it requires one."
      : `An API key of ${vendor.title}.`,
    settings,
    probe: (parsed, signal) => compatibleProbe(vendor, parsed, signal),
    models: (parsed, signal) => compatibleModels(vendor, parsed, signal),
    text: (parsed) => compatibleText(vendor, parsed),
    ...(vendor.embeds && { embedding: (parsed) => compatibleEmbedding(vendor, parsed) }),
  };
}

export const messagesAddress = httpAddress
  .optional()
  .describe(
    "Base address before `/v1/messages`; the vendor's own by default if the address of chat completions is",
  );

export const responsesSetting = z
  .boolean()
  .default(false)
  .describe(
    "True to serve callers of the responses protocol by `/responses` at the same address; otherwise they get a translation",
  );

interface CompatibleSettings extends OpenAiSettings {
  messagesBaseUrl?: string;
  responses?: boolean;
}

/** Returns a vendor's text upstreams: chat completions, and also responses and messages if the channel has them. */
export function compatibleText(
  vendor: CompatibleVendor,
  settings: CompatibleSettings,
): readonly TextUpstream[] {
  const { apiKey, headers } = settings;
  const connection = connectionOf(vendor, settings);
  const upstreams = [createOpenAiText(connection)];
  if (settings.responses) upstreams.push(createOpenAiResponses(connection));
  const isVendorsOwn = withoutEndSlash(settings.baseUrl) === vendor.baseUrl;
  const messagesBaseUrl = settings.messagesBaseUrl ?? (isVendorsOwn ? vendor.messagesBaseUrl : undefined);
  if (messagesBaseUrl === undefined || apiKey === null) return upstreams;
  const address = { baseUrl: messagesBaseUrl, apiKey, credential: credentialOf(settings), headers };
  return [...upstreams, createMessagesText(createMessagesConnection({ ...address, countsTokens: false }))];
}

export function compatibleEmbedding(
  vendor: CompatibleVendor,
  settings: CompatibleSettings,
): EmbeddingUpstream {
  return createOpenAiEmbeddings(connectionOf(vendor, settings));
}

/** Probes by reading `path`. If the address does not have this path, sends a request that the vendor refuses. */
export async function compatibleProbe(
  vendor: CompatibleVendor,
  settings: OpenAiSettings,
  signal: AbortSignal,
  path = "models",
): Promise<void> {
  const connection = connectionOf(vendor, settings);
  const base = withoutEndSlash(settings.baseUrl);
  await probeOpenAi(connection, `${base}/${path}`, signal);
}

export function compatibleModels(
  vendor: CompatibleVendor,
  settings: OpenAiSettings,
  signal: AbortSignal,
): Promise<string[]> {
  return listOpenAi(connectionOf(vendor, settings), `${withoutEndSlash(settings.baseUrl)}/models`, signal);
}

function connectionOf({ traits, ownCodes }: CompatibleVendor, settings: OpenAiSettings): OpenAiConnection {
  const baseUrl = withoutEndSlash(settings.baseUrl);
  return createOpenAiConnection({ ...settings, baseUrl }, credentialOf(settings), {
    urlOf: (operation) => `${baseUrl}/${operation}`,
    textTraits: traits,
    ownCodes: ownCodes && new Map(Object.entries(ownCodes)),
    ...NO_IMAGES,
  });
}

function credentialOf({ apiKey }: OpenAiSettings): Readonly<Record<string, string>> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
