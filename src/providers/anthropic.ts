import { z } from "zod";
import { createMessagesConnection, type MessagesConnection } from "./messages-compatible/connection.ts";
import { createMessagesText } from "./messages-compatible/text.ts";
import type { Provider } from "./provider.ts";
import { extraHeaders, headerValue, httpAddress } from "./transport/channel-settings.ts";
import { writeJsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { readModels } from "./transport/model-list.ts";
import { probeByEither, probeByReading, probeByRefusal, UNKNOWN_MODEL } from "./transport/probe.ts";

const settings = z.object({
  baseUrl: httpAddress
    .default("https://api.anthropic.com")
    .describe("Base address before `/v1/messages`, of Anthropic or any vendor that serves its protocol"),
  apiKey: headerValue,
  headers: extraHeaders,
});

type AnthropicSettings = z.infer<typeof settings>;

/** Anthropic, and every other vendor that speaks the messages protocol and reads the key from `x-api-key`. */
export const anthropic: Provider<AnthropicSettings> = {
  name: "anthropic",
  title: "Anthropic",
  documentation:
    "An API key of console.anthropic.com, or with another address of any vendor of the messages protocol that reads the key from x-api-key.",
  settings,
  probe: (settings, signal) => probeMessages(connectionOf(settings), signal),
  models(settings, signal) {
    const { url, jsonHeaders: headers, errors } = connectionOf(settings);
    return readModels(
      { url: url.replace(/messages$/, "models?limit=1000"), headers, signal },
      errors.classify,
    );
  },
  text: (settings) => [createMessagesText(connectionOf(settings), { demandsThinking: true })],
};

function connectionOf(settings: AnthropicSettings): MessagesConnection {
  const credential = { "x-api-key": settings.apiKey };
  return createMessagesConnection({ ...settings, credential, countsTokens: true });
}

/** Reads the list of models (Anthropic API, "List models"), or else sends a message to an unknown model. */
async function probeMessages(
  { url, jsonHeaders: headers, errors }: MessagesConnection,
  signal: AbortSignal,
): Promise<void> {
  const listUrl = url.replace(/messages$/, "models?limit=1");
  const message = { model: UNKNOWN_MODEL, messages: [{ role: "user", content: "ping" }], max_tokens: 1 };
  await probeByEither(
    () => probeByReading({ url: listUrl, headers, signal }, errors.classify),
    () =>
      probeByRefusal(() =>
        callJson("POST", { url, headers, body: writeJsonBody(() => message), signal }, errors.classify),
      ),
  );
}
