import { describe, expect, test } from "bun:test";
import { plainCore, type PlainCoreOptions } from "../../test/support/plain-core.ts";
import { DONE, MODEL, payload, PRICE, streaming, whole, word } from "../../test/support/plain-text.ts";
import type { TextUpstream } from "./upstreams.ts";
import { ClientDisconnected } from "./routing/call.ts";
import { handleText } from "./text.ts";

describe("without a report of usage, the tokens are counted", () => {
  const PIECES = [word("hel"), word("lo", "stop")];
  const counting = (options: Omit<PlainCoreOptions, "model" | "price">) => {
    const plain = plainCore({ model: MODEL, price: PRICE, budget: 5_000n, ...options });
    const { promise: counted, resolve: count } = Promise.withResolvers<void>();
    const texts: string[] = [];
    plain.core.tokenCounter = {
      async count(text) {
        texts.push(text);
        await counted;
        return 10 + text.length;
      },
      close() {},
    };
    return { ...plain, texts, count };
  };
  /** Tokens of the prompt "hi" in one message, and of the reply "hello". */
  const TOKENS = { input: 12 + 4 + 3, output: 15 };

  test("before a complete stream shows them", async () => {
    const { core, request, charges, texts, count } = counting({ text: [streaming([...PIECES, DONE])] });
    const outcome = await handleText(core, request(), payload({ stream: true }));
    if (outcome.kind !== "stream") throw new Error("no stream");
    const shown = new Response(outcome.body).text();
    await Bun.sleep(20);
    expect([texts, charges()]).toEqual([["hi", "hello"], []]);
    count();
    expect(await shown).toContain(`"completion_tokens":${TOKENS.output}`);
    expect(charges()).toMatchObject([{ usage: { tokens: TOKENS, source: "estimated" } }]);
  });

  test("for a whole answer", async () => {
    const choices = [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }];
    const text = JSON.stringify({ id: "c", model: "vendor-model", choices });
    const vendor: TextUpstream = { dialect: "chat", send: async () => ({ kind: "whole", text }) };
    const { core, request, charges, count } = counting({ text: [vendor] });
    count();
    const outcome = await handleText(core, request(), payload());
    if (outcome.kind !== "whole") throw new Error("no answer");
    expect(JSON.parse(outcome.text).usage).toMatchObject({
      prompt_tokens: TOKENS.input,
      completion_tokens: TOKENS.output,
    });
    expect(charges()).toMatchObject([{ usage: { tokens: TOKENS } }]);
  });

  test("for a stream that breaks, before its error event", async () => {
    const { core, request, charges, count } = counting({ text: [streaming([word("hello")], "breaks")] });
    const outcome = await handleText(core, request(), payload({ stream: true }));
    if (outcome.kind !== "stream") throw new Error("no stream");
    count();
    expect(await new Response(outcome.body).text()).toContain('"error"');
    expect(charges()).toMatchObject([{ usage: { tokens: TOKENS }, flags: ["partial", "estimated"] }]);
  });

  test("for a client that disconnects, which ends the vendor's call at once", async () => {
    const { core, request, charges, count, isAllGivenBack } = counting({
      text: [streaming([word("hello")], "is silent")],
    });
    const client = new AbortController();
    const outcome = await handleText(core, request(client.signal), payload({ stream: true }));
    if (outcome.kind !== "stream") throw new Error("no stream");
    const reader = outcome.body.getReader();
    await reader.read();
    client.abort();
    await reader.cancel();
    expect(charges()).toEqual([]);
    count();
    expect(await outcome.ended).toBeInstanceOf(ClientDisconnected);
    expect(charges()).toMatchObject([{ usage: { tokens: TOKENS } }]);
    expect(await isAllGivenBack()).toBe(true);
  });

  test("and nothing is counted for an answer with usage", async () => {
    const { core, request, charges, texts } = counting({ text: [whole()] });
    await handleText(core, request(), payload());
    expect(texts).toEqual([]);
    expect(charges()).toMatchObject([{ usage: { tokens: { input: 3, output: 4 }, source: "upstream" } }]);
  });
});
