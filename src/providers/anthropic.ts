import { z } from "zod";
import { createMessagesConnection } from "./messages-compatible/connection.ts";
import { createMessagesText } from "./messages-compatible/text.ts";
import type { Provider } from "./provider.ts";
import { extraHeaders, headerValue, httpAddress } from "./transport/channel-settings.ts";

const settings = z.object({
  /** Address in front of `/v1/messages`, of Anthropic or any vendor that serves its protocol. */
  baseUrl: httpAddress.default("https://api.anthropic.com"),
  apiKey: headerValue,
  headers: extraHeaders,
});

type AnthropicSettings = z.infer<typeof settings>;

/** Anthropic, and every vendor that takes the messages protocol with the key in `x-api-key`. */
export const anthropic: Provider<AnthropicSettings> = {
  name: "anthropic",
  settings,
  text({ headers, ...settings }) {
    const credential = { "x-api-key": settings.apiKey };
    return [
      createMessagesText(createMessagesConnection({ ...settings, headers, credential, countsTokens: true })),
    ];
  },
};
