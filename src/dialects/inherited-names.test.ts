import { translatable } from "./conversation/untranslatable.ts";
import { expect, test } from "bun:test";
import { GatewayError } from "../domain/gateway-error.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { chat, readRequest as readChat } from "./chat/index.ts";
import { readRequest as readResponses, responses } from "./responses/index.ts";

/* Names that every JavaScript object inherits. A caller's field with such a name is an unknown field. */
const NAMES = Object.getOwnPropertyNames(Object.prototype);
const VALUES = ["false", "1", '"text"', "[]", "{}"];
const CASES = NAMES.flatMap((name) => VALUES.map((value) => [name, value] as const));

const chatWith = (member: string) =>
  Buffer.from(`{"model":"m","messages":[{"role":"user","content":"hi"}],${member}}`);
const responsesWith = (member: string) => Buffer.from(`{"model":"m","input":"hi",${member}}`);

test.each(CASES)("a request with %s: %s is refused for it where it has to be translated", (name, value) => {
  const member = `${JSON.stringify(name)}:${value}`;
  for (const translate of [
    () => translatable(chat.readConversation(readChat(chatWith(member)))),
    () => translatable(responses.readConversation(readResponses(responsesWith(member)))),
  ])
    expect(refusalOf(translate)).toBe(name);
});

test.each(NAMES)("an item of the type %s is refused by name", (name) => {
  const body = JSON.stringify({ model: "m", input: [{ type: name, role: "user", content: "hi" }] });
  expect(() => responses.readConversation(readResponses(Buffer.from(body)))).toThrow(UpstreamError);
});

function refusalOf(translate: () => unknown): string | undefined {
  try {
    translate();
  } catch (error) {
    if (error instanceof UpstreamError || error instanceof GatewayError) return error.param ?? undefined;
    throw error;
  }
  return undefined;
}
