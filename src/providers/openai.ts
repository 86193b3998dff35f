import { z } from "zod";
import {
  createOpenAiConnection,
  type ImageLimits,
  type OpenAiAddress,
} from "./openai-compatible/connection.ts";
import { createOpenAiEmbeddings } from "./openai-compatible/embeddings.ts";
import { createOpenAiImages } from "./openai-compatible/images.ts";
import { listOpenAi, probeOpenAi } from "./openai-compatible/probe.ts";
import { createOpenAiResponses } from "./openai-compatible/responses.ts";
import { createOpenAiText } from "./openai-compatible/text.ts";
import { vendorAt } from "./openai-compatible/vendors.ts";
import type { Provider } from "./provider.ts";
import {
  extraHeaders,
  headerValue,
  httpAddress,
  optionalCredential,
  withoutEndSlash,
} from "./transport/channel-settings.ts";
import { inputError, listed } from "../domain/schema-problems.ts";

const OPENAI_ORIGIN = "https://api.openai.com";

const settings = z.object({
  baseUrl: httpAddress
    .default(`${OPENAI_ORIGIN}/v1`)
    .describe("Base address before `/chat/completions` and `/images/…`, of OpenAI or any compatible vendor"),
  apiKey: optionalCredential,
  headers: extraHeaders,
  organization: headerValue.optional().describe("Organization of the account that is billed"),
  project: headerValue.optional().describe("Project of the account that is billed"),
  responses: z
    .union([z.boolean(), z.literal("only")], {
      error: inputError("input.values", { values: listed([true, false, "only"]) }),
    })
    .optional()
    .describe(
      "True when the address also serves `/responses`, as OpenAI's own does and most compatible ones do not. `only` sends every text request there, for models without another protocol",
    ),
});

type OpenAiSettings = z.infer<typeof settings>;

/** OpenAI, and every other vendor that speaks OpenAI's chat completions or images protocol. */
export const openai: Provider<OpenAiSettings> = {
  name: "openai",
  title: "OpenAI",
  documentation:
    "An API key of platform.openai.com, or with another address of any vendor with OpenAI's chat completions or images.",
  settings,
  probe: (settings, signal) => probeOpenAi(connectionOf(settings), listUrlOf(settings), signal),
  models: (settings, signal) => listOpenAi(connectionOf(settings), listUrlOf(settings), signal),
  text(settings) {
    const connection = connectionOf(settings);
    const chat = createOpenAiText(connection);
    const responses = settings.responses ?? settings.baseUrl.startsWith(OPENAI_ORIGIN);
    if (!responses) return [chat];
    const upstream = createOpenAiResponses(connection, { countsTokens: true });
    return responses === "only" ? [upstream] : [chat, upstream];
  },
  embedding: (settings) => createOpenAiEmbeddings(connectionOf(settings)),
  image: (settings, codecSlots) => createOpenAiImages(connectionOf(settings), codecSlots),
};

/** Limits of images: files below 50 MB (OpenAI image reference). */
const IMAGE_LIMITS: ImageLimits = {
  formats: ["png", "jpeg", "webp"],
  references: { formats: ["png", "jpeg", "webp"], maxBytes: 50_000_000 },
};

/** Returns the connection, with the headers of the OpenAI API reference, "Authentication". */
function connectionOf({ baseUrl, apiKey, headers, organization, project }: OpenAiSettings) {
  const base = withoutEndSlash(baseUrl);
  const credential = {
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
    ...(organization && { "openai-organization": organization }),
    ...(project && { "openai-project": project }),
  };
  return createOpenAiConnection({ baseUrl: base, apiKey, headers }, credential, {
    urlOf: (operation) => `${base}/${operation}`,
    ...textFacts(base),
    singleFileField: "image",
    imageLimits: IMAGE_LIMITS,
  });
}

/** Returns the known traits and codes of the vendor at an address. */
function textFacts(base: string): Pick<OpenAiAddress, "textTraits" | "ownCodes"> {
  if (base.startsWith(OPENAI_ORIGIN))
    return { textTraits: { maxTokensField: "max_completion_tokens", takesRefusals: true } };
  const { traits, ownCodes } = vendorAt(base);
  return { textTraits: traits, ...(ownCodes && { ownCodes: new Map(Object.entries(ownCodes)) }) };
}

function listUrlOf({ baseUrl }: OpenAiSettings): string {
  return `${withoutEndSlash(baseUrl)}/models`;
}
