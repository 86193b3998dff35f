import { describe, expect, test } from "bun:test";
import { plainCore, type PlainCoreOptions } from "../../test/support/plain-core.ts";
import {
  chunk,
  DONE,
  MODEL,
  payload,
  PRICE,
  RATE,
  streaming,
  USAGE,
  whole,
  word,
} from "../../test/support/plain-text.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { sleep, untilAborted } from "../lib/waiting.ts";
import { routeOf } from "./admission/model-access.ts";
import { asGatewayError } from "./failure.ts";
import { handleText, type TextOutcome } from "./text.ts";
import type { TextCall, TextUpstream } from "./upstreams.ts";
import { ClientDisconnected } from "./routing/call.ts";

function failing(error: Error): TextUpstream {
  return { dialect: "chat", send: () => Promise.reject(error) };
}

const open = (text: readonly TextUpstream[], options: Partial<PlainCoreOptions> = {}) =>
  plainCore({ model: MODEL, price: PRICE, text, budget: 5_000n, ...options });

async function read(outcome: TextOutcome): Promise<string> {
  if (outcome.kind === "whole") return outcome.text;
  return new Response(outcome.body).text();
}

describe("a whole answer", () => {
  test("names the caller's model and is charged for the vendor's usage", async () => {
    const { core, request, charges, isAllGivenBack } = open([whole()]);
    const context = request();
    const text = await read(await handleText(core, context, payload()));
    expect(JSON.parse(text)).toMatchObject({ model: "m", usage: USAGE });
    expect(charges()).toEqual([context.facts.charge!]);
    expect(charges()[0]).toMatchObject({ id: "req_own", requestId: "req_caller", amount: 7n, flags: [] });
    expect(await isAllGivenBack()).toBe(true);
  });

  test("comes from the next target when the first fails, and every attempt is known", async () => {
    const { core, request, charges } = open([failing(new UpstreamError("unreachable", "no")), whole()]);
    const context = request();
    await handleText(core, context, payload());
    expect(context.attempts.map(({ channel, outcome }) => [channel, outcome])).toEqual([
      ["channel-0", "unreachable"],
      ["channel-1", "answered"],
    ]);
    expect(charges()[0]).toMatchObject({ channel: "channel-1" });
  });

  test("that cannot be recorded is an error, and its hold is given back", async () => {
    const { core, request, journal, isAllGivenBack } = open([whole()]);
    journal.isWritable = false;
    const context = request();
    await expect(handleText(core, context, payload())).rejects.toMatchObject({
      code: "dependency_unavailable",
    });
    expect(context.facts.charge).toBeNull();
    expect(await isAllGivenBack()).toBe(true);
  });

  test("corrects the tokens it was counted with", async () => {
    const { core, request } = open([whole()], { limits: { tokensPerMinute: 200 } });
    await handleText(core, request(), payload());
    const { limitState } = await handleText(core, request(), payload({ max_tokens: 1 }));
    expect(limitState?.tokens?.remaining).toBeGreaterThan(200 - 7 - 40);
  });
});

test("a model whose channels cannot be used here is unavailable, and not unknown", async () => {
  const { core, request, isAllGivenBack } = open([]);
  await expect(handleText(core, request(), payload())).rejects.toMatchObject({
    code: "dependency_unavailable",
    retryAfterSeconds: 5,
  });
  expect(await isAllGivenBack()).toBe(true);
});

test("a request that no target serves costs nothing and counts no tokens", async () => {
  const { send } = whole();
  let calls = 0;
  const once: TextUpstream["send"] = (call) =>
    (calls += 1) === 1 ? Promise.reject(new UpstreamError("rejected", "no")) : send(call);
  const { core, request, charges, isAllGivenBack } = open([{ dialect: "chat", send: once }], {
    limits: { tokensPerMinute: 200 },
  });
  const context = request();
  await expect(handleText(core, context, payload())).rejects.toMatchObject({ kind: "rejected" });
  expect(context.facts).toMatchObject({ model: { id: "m" }, charge: null });
  expect(charges()).toEqual([]);
  const { limitState } = await handleText(core, request(), payload({ max_tokens: 100 }));
  expect(limitState?.tokens?.remaining).toBeGreaterThan(50);
  expect(await isAllGivenBack()).toBe(true);
});

describe("a client that disconnects before there is a response", () => {
  /** Disconnects as soon as the vendor has been called. */
  async function disconnect(options: Partial<PlainCoreOptions> = {}, isStream = false, isEnding = false) {
    const client = new AbortController();
    const { promise: called, resolve } = Promise.withResolvers<void>();
    const send = ({ signal }: TextCall): Promise<never> => {
      resolve();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const opened = open([{ dialect: "chat", send }], options);
    const served = handleText(opened.core, opened.request(client.signal), payload({ stream: isStream }));
    await called;
    if (isEnding) opened.core.detachedCalls.refuse();
    client.abort();
    await expect(served).rejects.toBeInstanceOf(ClientDisconnected);
    return opened;
  }

  test.each([false, true])("pays for the input of the call that was sent, stream %p", async (isStream) => {
    const { charges, isAllGivenBack } = await disconnect({}, isStream);
    expect(charges()).toMatchObject([
      {
        usage: { source: "estimated", tokens: { input: expect.any(Number), output: 0 } },
        flags: ["partial", "caller_gone", "estimated"],
        attempts: [{ outcome: "caller_gone" }],
      },
    ]);
    expect(Number(charges()[0]?.amount)).toBeWithin(10, 30);
    expect(await isAllGivenBack()).toBe(true);
  });

  test("stays counted in the limits with that input", async () => {
    const { request } = await disconnect({ limits: { requestsPerMinute: 5, tokensPerMinute: 1_000 } });
    const { grant } = request();
    await grant.countTokens(0, "max_tokens");
    expect(grant.limitState?.requests?.remaining).toBe(3);
    expect(grant.limitState?.tokens?.remaining).toBeWithin(970, 991);
  });

  test("pays nothing where no call was sent, or where this process ended it", async () => {
    const failed = open([failing(new UpstreamError("overloaded", "no"))]);
    const client = new AbortController();
    client.abort();
    await expect(handleText(failed.core, failed.request(client.signal), payload())).rejects.toBeInstanceOf(
      ClientDisconnected,
    );
    expect(failed.charges()).toEqual([]);
    expect((await disconnect({}, false, true)).charges()).toEqual([]);
  });

  test("pays nothing for a call that has failed while the next one is still being prepared", async () => {
    const client = new AbortController();
    const reading: TextUpstream = { ...whole(), traits: { fetchesNoLinks: true } };
    const failed = failing(new UpstreamError("overloaded", "no"));
    const { core, request, charges, isAllGivenBack } = open([failed, reading], { budget: 50_000n });
    // The gateway fetches the links that the next vendor cannot fetch.
    core.safeFetch = {
      download: (_link, _take, { signal }) => {
        client.abort();
        return untilAborted(new Promise<never>(() => {}), signal!);
      },
    };
    const picture = { type: "image_url", image_url: { url: "https://pictures.example/a.png" } };
    const asked = payload({ messages: [{ role: "user", content: [picture] }] });
    const served = handleText(core, request(client.signal), asked);
    await expect(served).rejects.toBeInstanceOf(ClientDisconnected);
    expect(charges()).toEqual([]);
    expect(await isAllGivenBack()).toBe(true);
  });
});

test("the output that a small budget covers is divided by the choices", async () => {
  const told: unknown[] = [];
  const send = (call: TextCall) => {
    told.push(JSON.parse(call.raw).max_tokens);
    return whole().send(call);
  };
  const spread = open([{ dialect: "chat", send }], { budget: 1_200n });
  const { coveredTokens } = await handleText(spread.core, spread.request(), payload({ n: 3 }));
  // One nano-unit a token: the prompt's bytes are held first.
  expect(coveredTokens).toBeWithin(1_000 / 3, 1_200 / 3);
  expect(told).toEqual([coveredTokens]);
});

test("a request that its budget does not cover calls nobody and frees what it counted", async () => {
  const { core, request, journal } = open([failing(new Error("called"))], { budget: 5n });
  await expect(handleText(core, request(), payload())).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
  expect(journal.records).toEqual([]);
  const limited = open([failing(new Error("called"))], { budget: 5n, limits: { tokensPerMinute: 200 } });
  for (let count = 0; count < 3; count += 1)
    await expect(
      handleText(limited.core, limited.request(), payload({ max_tokens: 100 })),
    ).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
});

test("every choice is held and counted", async () => {
  const choices = payload({ max_tokens: 100, n: 3 });
  const poor = open([failing(new Error("called"))], { budget: 250n });
  await expect(handleText(poor.core, poor.request(), choices)).rejects.toMatchObject({
    code: "BILLING_BLOCKED",
  });
  const limited = open([failing(new Error("called"))], { limits: { tokensPerMinute: 250 } });
  await expect(handleText(limited.core, limited.request(), choices)).rejects.toMatchObject({
    code: "invalid_parameter",
    param: "max_tokens",
  });
});

test("where the budget is short, the vendor gets the maximum that it covers", async () => {
  const sent: unknown[] = [];
  const { send } = whole();
  const vendor: TextUpstream = {
    dialect: "chat",

    send: (call) => {
      sent.push(JSON.parse(call.raw).max_tokens);
      return send(call);
    },
  };
  const { core, request } = open([vendor], { budget: 600n });
  const { coveredTokens } = await handleText(core, request(), payload());
  expect(coveredTokens).toBeWithin(256, 600);
  const rich = open([vendor]);
  expect(await handleText(rich.core, rich.request(), payload())).toMatchObject({ coveredTokens: null });
  expect(sent).toEqual([coveredTokens, undefined]);
});

test("a request is charged by the price of its admission", async () => {
  let price = PRICE;
  const { send } = whole();
  const vendor: TextUpstream = {
    dialect: "chat",

    send: (call) => {
      const dear = { ...RATE, amount: 9_000_000n };
      price = { ...PRICE, perMillion: { input: dear, output: dear } };
      return send(call);
    },
  };
  const { core, request, charges } = open([vendor]);
  const directory = { ...core.snapshot.directory(), price: () => price };
  const snapshot = { ...core.snapshot, directory: () => directory };
  await handleText({ ...core, snapshot }, request(), payload());
  expect(charges()).toMatchObject([{ amount: 7n }]);
});

test("a rejected request is sent to no other target", async () => {
  const { core, request } = open([failing(new UpstreamError("rejected", "no")), whole()]);
  const context = request();
  await expect(handleText(core, context, payload())).rejects.toMatchObject({ kind: "rejected" });
  expect(context.attempts).toHaveLength(1);
});

test("a model without a price calls nobody", async () => {
  const { core, request } = open([failing(new Error("called"))], { price: undefined });
  await expect(handleText(core, request(), payload())).rejects.toMatchObject({
    code: "MODEL_PRICE_NOT_CONFIGURED",
  });
});

describe("a stream", () => {
  const stream = payload({ stream: true });

  test("is charged once, before its ending goes out", async () => {
    const vendor = streaming([word("a"), word("b", "stop"), chunk({ usage: USAGE }), DONE]);
    const { core, request, charges, isAllGivenBack } = open([vendor]);
    const outcome = await handleText(core, request(), stream);
    expect(outcome.kind).toBe("stream");
    expect(await read(outcome)).toEndWith(DONE);
    expect(charges()).toHaveLength(1);
    expect(charges()[0]).toMatchObject({ amount: 7n, flags: [] });
    expect(await (outcome as Extract<TextOutcome, { kind: "stream" }>).ended).toBeNull();
    expect(await isAllGivenBack()).toBe(true);
  });

  test("holds its money while it runs", async () => {
    const vendor = streaming([word("a"), word("b", "stop"), chunk({ usage: USAGE }), DONE]);
    const { core, request } = open([vendor], { budget: 400n });
    const limited = payload({ stream: true, max_tokens: 200 });
    const outcome = await handleText(core, request(), limited);
    await expect(handleText(core, request(), limited)).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
    await read(outcome);
    expect(await read(await handleText(core, request(), limited))).toEndWith(DONE);
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
    const { core, request } = open([{ ...vendor, dialect }], { budget: 100_000n });
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
    // A value that looks like an address may keep some objects alive, never most.
    expect(kept.length).toBeLessThan(4);
    for (const { reader } of streams) await reader.cancel();
  });

  test("without content comes from the next target", async () => {
    const { core, request } = open([streaming([], "breaks"), streaming([word("b", "stop"), DONE])]);
    const context = request();
    expect(await read(await handleText(core, context, stream))).toContain('"content":"b"');
    expect(context.attempts.map(({ outcome }) => outcome)).toEqual(["unreachable", "answered"]);
  });

  test("that breaks after content ends with an error event and is charged in part", async () => {
    const { core, request, charges, isAllGivenBack } = open([streaming([word("abcd")], "breaks")]);
    const outcome = await handleText(core, request(), stream);
    const text = await read(outcome);
    expect(text).toContain('"error"');
    expect(text).not.toContain("[DONE]");
    expect(charges()[0]?.flags).toContain("partial");
    expect(await (outcome as Extract<TextOutcome, { kind: "stream" }>).ended).toMatchObject({
      code: "upstream_error",
    });
    expect(await isAllGivenBack()).toBe(true);
  });

  test("whose client disconnects is aborted and charged in part", async () => {
    const { core, request, charges, isAllGivenBack } = open([streaming([word("abcd")], "is silent")]);
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
    const { core, request, journal, isAllGivenBack } = open([streaming([word("a", "stop"), DONE])]);
    const outcome = await handleText(core, request(), stream);
    journal.isWritable = false;
    const text = await read(outcome);
    expect(text).toContain('"dependency_unavailable"');
    expect(text).not.toContain("[DONE]");
    expect(await isAllGivenBack()).toBe(true);
  });
});

describe("a reply without content", () => {
  const said = { role: "assistant", content: "" };
  const nothing = (reasoning = 0): TextUpstream => {
    const details = { completion_tokens_details: { reasoning_tokens: reasoning } };
    const usage = { prompt_tokens: 5, completion_tokens: reasoning, ...(reasoning > 0 && details) };
    const choices = [{ index: 0, message: said, finish_reason: "stop" }];
    const text = JSON.stringify({ id: "c", model: "vendor-model", choices, usage });
    return {
      dialect: "chat",
      send: (call) =>
        call.isStream
          ? streaming([word("", "stop"), chunk({ usage }), DONE]).send(call)
          : Promise.resolve({ kind: "whole", text }),
    };
  };
  const full: TextUpstream = {
    dialect: "chat",
    send: (call) =>
      call.isStream
        ? streaming([word("b", "stop"), chunk({ usage: USAGE }), DONE]).send(call)
        : whole().send(call),
  };
  const serve = async (vendors: readonly TextUpstream[], fields = {}, options = {}) => {
    const opened = open(vendors, { budget: 50_000n, ...options });
    const context = opened.request();
    const text = await read(await handleText(opened.core, context, payload(fields)));
    return { ...opened, text, outcomes: context.attempts.map(({ outcome }) => outcome) };
  };

  describe.each([false, true])("streamed %p", (stream) => {
    test("is bettered by the next target; the first one's price is orphan cost", async () => {
      const { outcomes, text, charges, isAllGivenBack } = await serve([nothing(), full], { stream });
      expect(outcomes).toEqual(["empty", "answered"]);
      expect(text).toMatch(/"content":"(?:b|hello)"/);
      expect(charges()).toMatchObject([{ channel: "channel-1", amount: 7n, orphanCost: 5n }]);
      expect(await isAllGivenBack()).toBe(true);
    });

    test("of every target is delivered and not billed, within the cap of orphan costs", async () => {
      const opened = await serve([nothing(), nothing()], { stream }, { orphanCostCap: 10n });
      const { core, request, text, outcomes, charges, isAllGivenBack } = opened;
      expect(outcomes).toEqual(["empty", "empty"]);
      expect(text).toMatch(/"finish_reason":"stop"/);
      expect(text).toMatch(/"total_tokens":0/);
      if (stream) expect(text).toEndWith(DONE);
      expect(charges()).toMatchObject([{ channel: "channel-1", amount: 0n, orphanCost: 10n, flags: [] }]);
      await expect(handleText(core, request(), payload())).rejects.toMatchObject({
        code: "rate_limit_exceeded",
      });
      expect(await isAllGivenBack()).toBe(true);
    });

    test("of several targets costs what short requests cost, though together they are long", async () => {
      const rate = { ...RATE, longContext: { above: 8, amount: 10n * RATE.amount } };
      const price = { ...PRICE, perMillion: { input: rate, output: rate } };
      const { charges } = await serve([nothing(), nothing()], { stream }, { price });
      expect(charges()).toMatchObject([{ amount: 0n, orphanCost: 10n }]);
    });

    test.each([{ stop: ["x"] }, { max_tokens: 15 }])("is billed where %o explains it", async (fields) => {
      const { outcomes, charges } = await serve([nothing(), full], { stream, ...fields });
      expect(outcomes).toEqual(["answered"]);
      expect(charges()).toMatchObject([{ channel: "channel-0", amount: 5n, orphanCost: 0n }]);
    });

    test("is billed where the model has reasoned", async () => {
      const { outcomes, charges } = await serve([nothing(4), full], { stream });
      expect(outcomes).toEqual(["answered"]);
      expect(charges()).toMatchObject([{ channel: "channel-0", amount: 9n }]);
    });
  });
});

test("a call with malformed arguments comes from the next target, and costs nothing without one", async () => {
  const broken = { id: "call_1", type: "function", function: { name: "f", arguments: "{bad" } };
  const message = { role: "assistant", content: null, tool_calls: [broken] };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  const text = JSON.stringify({ id: "c", model: "vendor-model", choices, usage: USAGE });
  const malformed: TextUpstream = { dialect: "chat", send: async () => ({ kind: "whole", text }) };
  const first = open([malformed, whole()]);
  const context = first.request();
  await handleText(first.core, context, payload());
  expect(context.attempts.map(({ outcome }) => outcome)).toEqual(["broken", "answered"]);
  const alone = open([malformed]);
  const failure = handleText(alone.core, alone.request(), payload());
  await expect(failure).rejects.toMatchObject({ kind: "broken" });
  expect(alone.charges()).toEqual([]);
});

describe("an input that is too long or too large for a vendor", () => {
  const tooLong = failing(new UpstreamError("too_long", "no", { publicMessage: "Too long." }));
  const withWindows = (windows: (number | undefined)[], model = MODEL) => {
    const vendors = [tooLong, ...windows.slice(1).map(() => whole())];
    const opened = open(vendors, { model });
    const route = routeOf(opened.core.snapshot.directory(), opened.principal, "m");
    for (const [index, contextWindow] of windows.entries())
      Object.assign(route.targets[index]!, { contextWindow });
    return opened;
  };
  const served = async ({ core, request }: ReturnType<typeof open>, fields = {}) => {
    const context = request();
    const failure = await handleText(core, context, payload(fields)).then(
      () => null,
      (error: unknown) => error,
    );
    return { failure, calls: context.attempts.map(({ channel, outcome }) => `${channel} ${outcome}`) };
  };

  test.each([
    [
      [undefined, undefined],
      ["channel-0 too_long", "channel-1 answered"],
    ],
    [
      [1_000, undefined],
      ["channel-0 too_long", "channel-1 answered"],
    ],
    [
      [1_000, 1_000, 2_000],
      ["channel-0 too_long", "channel-2 answered"],
    ],
  ])("with contexts %p goes on to the next larger or unknown one", async (windows, calls) => {
    const opened = withWindows(windows);
    for (let count = 0; count < 7; count += 1) expect((await served(opened)).calls).toEqual(calls);
    expect(opened.core.failover.health.ejections()).toEqual([]);
  });

  test("is an error where no context is larger, and costs nothing", async () => {
    const opened = withWindows([undefined, 1_000], { ...MODEL, contextWindow: 1_000 });
    const { failure, calls } = await served(opened);
    expect(calls).toEqual(["channel-0 too_long"]);
    expect(asGatewayError(failure)).toMatchObject({ code: "context_length_exceeded", message: "Too long." });
    expect(opened.charges()).toEqual([]);
    expect(await opened.isAllGivenBack()).toBe(true);
  });

  test("passes over targets that cannot fit the estimate, unless none can", async () => {
    const content = "word ".repeat(500);
    const messages = [{ role: "user", content }];
    const opened = withWindows([100, 4_000]);
    expect(await served(opened, { messages })).toEqual({ failure: null, calls: ["channel-1 answered"] });
    const small = withWindows([100, 200]);
    expect((await served(small, { messages })).calls).toEqual(["channel-0 too_long", "channel-1 answered"]);
  });

  test("a request with too many bytes for one vendor goes to the next, else it is a 413", async () => {
    const tooLarge = failing(new UpstreamError("too_large", "no", { status: 413 }));
    expect(await served(open([tooLarge, whole()]))).toEqual({
      failure: null,
      calls: ["channel-0 too_large", "channel-1 answered"],
    });
    const { failure } = await served(open([tooLarge]));
    expect(asGatewayError(failure)).toMatchObject({ code: "payload_too_large", status: 413 });
  });
});

describe("a stream whose vendor is silent", () => {
  const stream = payload({ stream: true });
  const ALIVE = ": keep-alive\n\n";
  const PING = ": ping\n\n";

  /** A vendor that waits before it fails or sends. */
  const late = (vendor: TextUpstream, afterMs = 150): TextUpstream => ({
    ...vendor,
    send: async (call) => {
      await sleep(afterMs, call.signal);
      return vendor.send(call);
    },
  });
  const begin = async (vendors: readonly TextUpstream[], signal?: AbortSignal) => {
    const opened = open(vendors, { firstByteMs: 20 });
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
