import { z } from "zod";
import {
  createOpenAiConnection,
  type ImageLimits,
  type OpenAiAddress,
  type OpenAiConnection,
} from "./openai-compatible/connection.ts";
import { createOpenAiEmbeddings } from "./openai-compatible/embeddings.ts";
import { createOpenAiImages } from "./openai-compatible/images.ts";
import { createOpenAiResponses } from "./openai-compatible/responses.ts";
import { createOpenAiText } from "./openai-compatible/text.ts";
import type { Provider } from "./provider.ts";
import { extraHeaders, headerValue, httpAddress, withoutEndSlash } from "./transport/channel-settings.ts";

const settings = z.object({
  /** Address of the resource, such as `https://{resource}.openai.azure.com`. */
  baseUrl: httpAddress.refine((text) => !/[?#]/.test(text), "must be the resource's address alone"),
  apiKey: headerValue,
  headers: extraHeaders,
  /** `v1` has the deployment in the body only, `classic` in the address. */
  surface: z.enum(["v1", "classic"]).default("v1"),
  /** Value of `api-version`; that of the surface where absent. */
  apiVersion: z
    .string()
    .regex(/^[a-z0-9.-]+$/, "must be a version such as 2025-04-01-preview")
    .optional(),
});

type AzureSettings = z.infer<typeof settings>;

/**
 * OpenAI's chat and images protocols at a resource of Azure OpenAI. The upstream model of a route is the name of a
 * deployment.
 */
export const azure: Provider<AzureSettings> = {
  name: "azure",
  settings,
  text(settings) {
    const connection = connectionOf(settings);
    const chat = createOpenAiText(connection);
    // The classic surface has no responses (Azure OpenAI, API lifecycle).
    return settings.surface === "v1" ? [chat, createOpenAiResponses(connection)] : [chat];
  },
  embedding: (settings) => createOpenAiEmbeddings(connectionOf(settings)),
  image: (settings, codecSlots) => createOpenAiImages(connectionOf(settings), codecSlots),
};

/** Versions under which images are served (Azure OpenAI image how-to, REST API reference). */
const API_VERSIONS: Readonly<Record<AzureSettings["surface"], string>> = {
  v1: "preview",
  classic: "2025-04-01-preview",
};

/** No WebP in either direction, and files of under 50 MB (Azure OpenAI image how-to). */
const IMAGE_LIMITS: ImageLimits = {
  formats: ["png", "jpeg"],
  references: { formats: ["png", "jpeg"], maxBytes: 50_000_000 },
};

function connectionOf(settings: AzureSettings): OpenAiConnection {
  const { apiKey, headers } = settings;
  // The address is often copied with the path of a surface at its end.
  const baseUrl = withoutEndSlash(settings.baseUrl).replace(/\/openai(\/v1)?$/, "");
  return createOpenAiConnection(
    { baseUrl, apiKey, headers },
    { "api-key": apiKey },
    {
      urlOf: urlsOf(baseUrl, settings),
      textTraits: { maxTokensField: "max_completion_tokens" },
      singleFileField: "image[]",
      imageLimits: IMAGE_LIMITS,
    },
  );
}

function urlsOf(baseUrl: string, { surface, apiVersion }: AzureSettings): OpenAiAddress["urlOf"] {
  const query = `api-version=${apiVersion ?? API_VERSIONS[surface]}`;
  if (surface === "v1") return (operation) => `${baseUrl}/openai/v1/${operation}?${query}`;
  return (operation, readModel) =>
    `${baseUrl}/openai/deployments/${encodeURIComponent(readModel())}/${operation}?${query}`;
}
