import { z } from "zod";

const headerWord = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces");

/** Shape of a channel's settings. */
export const openAiSettings = z.object({
  /** Address in front of `/chat/completions` and `/images/…`; any compatible vendor's will do. */
  baseUrl: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .default("https://api.openai.com/v1"),
  apiKey: headerWord,
  organization: headerWord.optional(),
  project: headerWord.optional(),
});

export type OpenAiSettings = z.infer<typeof openAiSettings>;
