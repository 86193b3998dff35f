import { z } from "zod";
import type { Provider } from "../provider.ts";
import { connect } from "./connection.ts";
import { createImageUpstream } from "./images.ts";
import { createTextUpstream } from "./text.ts";

const headerWord = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces");

const settings = z.object({
  /** Address in front of `/chat/completions` and `/images/…`; any compatible vendor's will do. */
  baseUrl: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .default("https://api.openai.com/v1"),
  apiKey: headerWord,
  organization: headerWord.optional(),
  project: headerWord.optional(),
});

export type OpenAiSettings = z.infer<typeof settings>;

/** OpenAI, and every vendor that speaks its chat completions or images protocol at an address of its own. */
export const openai: Provider<OpenAiSettings> = {
  name: "openai",
  settings,
  text: (settings) => createTextUpstream(connect(settings)),
  image: (settings) => createImageUpstream(connect(settings)),
};
