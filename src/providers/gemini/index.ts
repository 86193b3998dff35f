import { z } from "zod";
import type { Provider } from "../provider.ts";
import type { GenerateConnection } from "./connection.ts";
import { createImageUpstream } from "./images.ts";

const settings = z.object({
  /** Address in front of `/v1beta/models/…`. */
  baseUrl: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .default("https://generativelanguage.googleapis.com"),
  apiKey: z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces"),
  /** Makes several images by as many calls at once; one image a request otherwise. */
  fanOut: z.boolean().default(false),
});

export type GeminiSettings = z.infer<typeof settings>;

/** Gemini's image models at the address for API keys (Gemini API reference, `models.generateContent`). */
export const gemini: Provider<GeminiSettings> = {
  name: "gemini",
  settings,
  image: (settings) => createImageUpstream(connect(settings), settings.fanOut),
};

/** All references together stay under the 100 MB that a request may have, base64 counted. */
const MAX_REFERENCE_BYTES = 72_000_000;

function connect({ baseUrl, apiKey }: GeminiSettings): GenerateConnection {
  const base = baseUrl.replace(/(?<!\/)\/+$/, "");
  const credential = { headers: { "x-goog-api-key": apiKey }, secret: apiKey };
  return {
    hostname: new URL(base).hostname,
    urlOf: (model) => `${base}/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    authenticate: () => Promise.resolve(credential),
    takesOutputOptions: false,
    demandsRoles: false,
    maxReferenceBytes: { each: MAX_REFERENCE_BYTES, together: MAX_REFERENCE_BYTES },
  };
}
