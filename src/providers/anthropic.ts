import { z } from "zod";
import { createMessagesConnection, type MessagesConnection } from "./messages-compatible/connection.ts";
import { probeMessages } from "./messages-compatible/probe.ts";
import { createMessagesText } from "./messages-compatible/text.ts";
import type { Provider } from "./provider.ts";
import { extraHeaders, headerValue, httpAddress } from "./transport/channel-settings.ts";

const settings = z.object({
  baseUrl: httpAddress
    .default("https://api.anthropic.com")
    .describe("Address in front of `/v1/messages`, of Anthropic or any vendor that serves its protocol"),
  apiKey: headerValue,
  headers: extraHeaders,
});

type AnthropicSettings = z.infer<typeof settings>;

/** Anthropic, and every vendor that takes the messages protocol with the key in `x-api-key`. */
export const anthropic: Provider<AnthropicSettings> = {
  name: "anthropic",
  title: "Anthropic",
  documentation:
    "An API key of console.anthropic.com; with another address any vendor of the messages protocol with its key in x-api-key.",
  settings,
  probe: (settings, signal) => probeMessages(connectionOf(settings), signal),
  text: (settings) => [createMessagesText(connectionOf(settings), { demandsThinking: true })],
};

function connectionOf(settings: AnthropicSettings): MessagesConnection {
  const credential = { "x-api-key": settings.apiKey };
  return createMessagesConnection({ ...settings, credential, countsTokens: true });
}
