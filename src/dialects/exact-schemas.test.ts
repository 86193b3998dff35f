import { expect, test } from "bun:test";
import { chat, readRequest as readChat } from "./chat/index.ts";
import type { TextDialect, TextPayload, VendorTerms } from "./dialect.ts";
import { messages, readRequest as readMessages } from "./messages/index.ts";
import { native } from "./native/text/index.ts";
import { readRequest as readResponses, responses } from "./responses/index.ts";

const SCHEMA = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807}}}';
const TERMS: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "public", maxOutputTokens: 1_000 },
};
const chatBody = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]}`;
const messagesBody = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":${SCHEMA}}]}`;
const responsesBody = `{"model":"m","input":"hi","tools":[{"type":"function","name":"f","parameters":${SCHEMA}}]}`;
const callers: [TextDialect, TextPayload][] = [
  [chat, readChat(Buffer.from(chatBody))],
  [messages, readMessages(Buffer.from(messagesBody), new Headers())],
  [responses, readResponses(Buffer.from(responsesBody))],
];

test.each(
  callers.flatMap(([caller, payload]) =>
    [chat, messages, responses, native].map(
      (vendor) => [caller.name, vendor.name, caller, payload, vendor] as const,
    ),
  ),
)("a schema's large number survives from %s to %s", (_from, _to, caller, payload, vendor) => {
  expect(vendor.writeConversation(caller.readConversation(payload), TERMS)).toContain(
    '"maximum":9223372036854775807',
  );
});
