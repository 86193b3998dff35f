import { describe, expect, test } from "bun:test";
import {
  chunk,
  DONE,
  failing,
  openText,
  payload,
  readOutcome,
  streaming,
  USAGE,
  whole,
  word,
} from "../../test/support/plain-text.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { sleep } from "../lib/waiting.ts";
import { ClientDisconnected } from "./routing/call.ts";
import { handleText, type TextOutcome } from "./text.ts";
import type { TextUpstream } from "./upstreams.ts";

describe("a stream", () => {
  const stream = payload({ stream: true });

  test("is charged once, before its ending goes out", async () => {
    const vendor = streaming([word("a"), word("b", "stop"), chunk({ usage: USAGE }), DONE]);
    const { core, request, charges, isAllGivenBack } = openText([vendor]);
    const outcome = await handleText(core, request(), stream);
    expect(outcome.kind).toBe("stream");
    expect(await readOutcome(outcome)).toEndWith(DONE);
    expect(charges()).toHaveLength(1);
    expect(charges()[0]).toMatchObject({ amount: 7n, flags: [] });
    expect(await (outcome as Extract<TextOutcome, { kind: "stream" }>).ended).toBeNull();
    expect(await isAllGivenBack()).toBe(true);
  });

  test("holds its money while it runs", async () => {
    const vendor = streaming([word("a"), word("b", "stop"), chunk({ usage: USAGE }), DONE]);
    const { core, request } = openText([vendor], { budget: 400n });
    const limited = payload({ stream: true, max_tokens: 200 });
    const outcome = await handleText(core, request(), limited);
    await expect(handleText(core, request(), limited)).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
    await readOutcome(outcome);
    expect(await readOutcome(await handleText(core, request(), limited))).toEndWith(DONE);
  });

  test.each(["chat", "messages"] as const)("of a %s vendor keeps nothing of its request", async (dialect) => {
    const text = { type: "text_delta", text: "a" };
    const start = { id: "m", usage: { input_tokens: 3, output_tokens: 1 } };
    const messages = [
      { type: "message_start", message: { ...start, type: "message", role: "assistant", content: [] } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: text },
    ].map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`);
    const vendor = streaming(dialect === "chat" ? [word("a")] : messages, "is silent");
    const { core, request } = openText([{ ...vendor, dialect }], { budget: 100_000n });
    const begin = async () => {
      const sent = payload({ stream: true });
      const outcome = await handleText(core, request(), sent);
      if (outcome.kind === "whole") throw new Error("no stream");
      const reader = outcome.body.getReader();
      await reader.read();
      return { reader, sent: new WeakRef(sent), body: new WeakRef(sent.parsed.body) };
    };
    const streams = [];
    for (let count = 0; count < 8; count += 1) streams.push(await begin());
    await Bun.sleep(0);
    Bun.gc(true);
    const kept = streams.filter(({ sent, body }) => sent.deref() ?? body.deref());
    // The garbage collector may take a number for an address. So a few objects may stay in memory.
    expect(kept.length).toBeLessThan(4);
    for (const { reader } of streams) await reader.cancel();
  });

  test("without content comes from the next target", async () => {
    const { core, request } = openText([streaming([], "breaks"), streaming([word("b", "stop"), DONE])]);
    const context = request();
    expect(await readOutcome(await handleText(core, context, stream))).toContain('"content":"b"');
    expect(context.attempts.map(({ outcome }) => outcome)).toEqual(["unreachable", "answered"]);
  });

  test("that breaks after content ends with an error event and is charged in part", async () => {
    const { core, request, charges, isAllGivenBack } = openText([streaming([word("abcd")], "breaks")]);
    const outcome = await handleText(core, request(), stream);
    const text = await readOutcome(outcome);
    expect(text).toContain('"error"');
    expect(text).not.toContain("[DONE]");
    expect(charges()[0]?.flags).toContain("partial");
    expect(await (outcome as Extract<TextOutcome, { kind: "stream" }>).ended).toMatchObject({
      code: "upstream_error",
    });
    expect(await isAllGivenBack()).toBe(true);
  });

  test("whose client disconnects is aborted and charged in part", async () => {
    const { core, request, charges, isAllGivenBack } = openText([streaming([word("abcd")], "is silent")]);
    const outcome = await handleText(core, request(), stream);
    if (outcome.kind !== "stream") throw new Error("no stream");
    const reader = outcome.body.getReader();
    await reader.read();
    await reader.cancel();
    expect(await outcome.ended).toBeInstanceOf(ClientDisconnected);
    expect(charges()[0]?.flags).toEqual(expect.arrayContaining(["partial", "caller_gone"]));
    expect(await isAllGivenBack()).toBe(true);
  });

  test("whose charge cannot be recorded ends with an error event", async () => {
    const { core, request, journal, isAllGivenBack } = openText([streaming([word("a", "stop"), DONE])]);
    const outcome = await handleText(core, request(), stream);
    journal.isWritable = false;
    const text = await readOutcome(outcome);
    expect(text).toContain('"dependency_unavailable"');
    expect(text).not.toContain("[DONE]");
    expect(await isAllGivenBack()).toBe(true);
  });
});

describe("a stream whose vendor is silent", () => {
  const stream = payload({ stream: true });
  const ALIVE = ": keep-alive\n\n";
  const PING = ": ping\n\n";

  /** Delays the calls of a vendor. */
  const late = (vendor: TextUpstream, afterMs = 150): TextUpstream => ({
    ...vendor,
    send: async (call) => {
      await sleep(afterMs, call.signal);
      return vendor.send(call);
    },
  });
  const begin = async (vendors: readonly TextUpstream[], signal?: AbortSignal) => {
    const opened = openText(vendors, { firstByteMs: 20 });
    const context = opened.request(signal);
    const outcome = await handleText(opened.core, context, stream);
    if (outcome.kind === "whole") throw new Error("no stream");
    return { ...opened, ...outcome, context };
  };
  const answer = [word("a"), word("b", "stop"), chunk({ usage: USAGE }), DONE];

  test("begins, is kept alive and goes on with the content", async () => {
    const { body, ended, charges, isAllGivenBack } = await begin([late(streaming(answer))]);
    const text = await new Response(body).text();
    expect(text).toStartWith(ALIVE + ALIVE);
    expect(text.replaceAll(ALIVE, "")).toStartWith('data: {"object"');
    expect(text).toEndWith(DONE);
    expect(await ended).toBeNull();
    expect(charges()).toMatchObject([{ amount: 7n, flags: [] }]);
    expect(await isAllGivenBack()).toBe(true);
  });

  test("begins though the vendor sends pings, which are no content", async () => {
    const { body } = await begin([late(streaming([PING, PING], "is silent"), 0)]);
    const reader = body.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toStartWith(ALIVE);
    await reader.cancel();
  });

  test("comes from the next target when that one fails", async () => {
    const broken = new UpstreamError("overloaded", "no");
    const { body, context, charges } = await begin([late(failing(broken)), streaming(answer)]);
    expect(await new Response(body).text()).toEndWith(DONE);
    expect(context.attempts.map(({ outcome }) => outcome)).toEqual(["overloaded", "answered"]);
    expect(charges()).toMatchObject([{ channel: "channel-1", amount: 7n }]);
  });

  test("ends with an error event and costs nothing when no target answers", async () => {
    const limited = new UpstreamError("limited", "no", { retryAfterSeconds: 7 });
    const { body, ended, charges, isAllGivenBack } = await begin([late(failing(limited))]);
    const [, event = ""] = (await new Response(body).text()).replaceAll(ALIVE, "").split("data: ");
    expect(JSON.parse(event).error).toMatchObject({
      code: "rate_limit_exceeded",
      message: expect.stringContaining("Try again in 7s."),
    });
    expect(await ended).toMatchObject({ code: "rate_limit_exceeded", retryAfterSeconds: 7 });
    expect(charges()).toEqual([]);
    expect(await isAllGivenBack()).toBe(true);
  });

  test("and whose client disconnects costs the input of the call that was sent", async () => {
    const client = new AbortController();
    const { body, ended, charges, isAllGivenBack } = await begin([late(whole(), 5_000)], client.signal);
    const reader = body.getReader();
    await reader.read();
    client.abort();
    await reader.cancel();
    expect(await ended).toBeInstanceOf(ClientDisconnected);
    expect(charges()).toMatchObject([
      { usage: { tokens: { output: 0 } }, flags: ["partial", "caller_gone", "estimated"] },
    ]);
    expect(await isAllGivenBack()).toBe(true);
  });

  test("is settled though its client disconnects before it reads", async () => {
    const client = new AbortController();
    const { ended, charges, isAllGivenBack } = await begin([late(whole(), 5_000)], client.signal);
    client.abort();
    expect(await ended).toBeInstanceOf(ClientDisconnected);
    expect(charges()).toHaveLength(1);
    expect(await isAllGivenBack()).toBe(true);
  });
});
