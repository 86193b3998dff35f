import { z } from "zod";
import { editMembers } from "../lib/json-edit.ts";
import type { GenerateContentConnection } from "./generate-content/connection.ts";
import { createGenerateContentEmbeddings } from "./generate-content/embeddings.ts";
import { readGoogleFailure } from "./generate-content/errors.ts";
import { createGenerateContentImages } from "./generate-content/images.ts";
import { createGenerateContentText } from "./generate-content/text.ts";
import type { Provider } from "./provider.ts";
import { fanOutSetting, headerValue, httpAddress, withoutEndSlash } from "./transport/channel-settings.ts";
import { JSON_HEADERS } from "./transport/json-call.ts";
import { readModels } from "./transport/model-list.ts";
import { probeByReading } from "./transport/probe.ts";
import { createVendorErrors } from "./transport/vendor-errors.ts";

const settings = z.object({
  baseUrl: httpAddress
    .default("https://generativelanguage.googleapis.com")
    .describe("Base address before `/v1beta/models/…`"),
  apiKey: headerValue,
  fanOut: fanOutSetting,
});

type GeminiSettings = z.infer<typeof settings>;

/** Gemini's text and image models at the address for API keys (Gemini API reference, `models.generateContent`). */
export const gemini: Provider<GeminiSettings> = {
  name: "gemini",
  title: "Google Gemini",
  documentation: "An API key of Google AI Studio.",
  settings,
  probe(settings, signal) {
    const { call, classify } = listCall(settings, 1, signal);
    return probeByReading(call, classify);
  },
  models(settings, signal) {
    const { call, classify } = listCall(settings, 1_000, signal);
    return readModels(call, classify, { nameOf: ({ name }) => String(name).replace(/^models\//, "") });
  },
  text: (settings) => [createGenerateContentText(connectionOf(settings))],
  embedding: (settings) => createGenerateContentEmbeddings(connectionOf(settings)),
  image: (settings, codecSlots) =>
    createGenerateContentImages(connectionOf(settings), settings.fanOut, codecSlots),
};

/** Returns the call that lists `pageSize` models, 1,000 at most (Gemini API reference, `models.list`). */
function listCall({ baseUrl, apiKey }: GeminiSettings, pageSize: number, signal: AbortSignal) {
  const { classify } = createVendorErrors({ secret: apiKey, baseUrl }, readGoogleFailure);
  const headers = { ...JSON_HEADERS, "x-goog-api-key": apiKey };
  const url = `${withoutEndSlash(baseUrl)}/v1beta/models?pageSize=${pageSize}`;
  return { call: { url, headers, signal }, classify };
}

/** Maximum bytes of all references together. As base64 they stay below the 100 MB that a request may have. */
const MAX_REFERENCE_BYTES = 72_000_000;

function connectionOf(settings: GeminiSettings): GenerateContentConnection {
  const { apiKey } = settings;
  const baseUrl = withoutEndSlash(settings.baseUrl);
  const credential = { headers: { "x-goog-api-key": apiKey }, secret: apiKey };
  return {
    baseUrl,
    urlOf: (model, method) => `${baseUrl}/v1beta/models/${encodeURIComponent(model)}:${method}`,
    // The address for API keys accepts instructions and tools only inside a whole request.
    writeCount: (raw, model) =>
      `{"generateContentRequest":${editMembers(raw, { model: () => JSON.stringify(`models/${model}`) })}}`,
    authenticate: () => Promise.resolve(credential),
    takesOutputOptions: false,
    demandsRoles: false,
    maxReferenceBytes: { each: MAX_REFERENCE_BYTES, together: MAX_REFERENCE_BYTES },
  };
}
