import { describe, expect, test } from "bun:test";
import {
  chunk,
  DONE,
  failing,
  MODEL,
  openText,
  payload,
  PRICE,
  RATE,
  readOutcome,
  streaming,
  USAGE,
  whole,
  word,
} from "../../test/support/plain-text.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { routeOf } from "./admission/model-access.ts";
import { asGatewayError } from "./failure.ts";
import { handleText } from "./text.ts";
import type { TextUpstream } from "./upstreams.ts";

test("a rejected request is sent to no other target", async () => {
  const { core, request } = openText([failing(new UpstreamError("rejected", "no")), whole()]);
  const context = request();
  await expect(handleText(core, context, payload())).rejects.toMatchObject({ kind: "rejected" });
  expect(context.attempts).toHaveLength(1);
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
    const opened = openText(vendors, { budget: 50_000n, ...options });
    const context = opened.request();
    const text = await readOutcome(await handleText(opened.core, context, payload(fields)));
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

    test("before another target's failure leaves an entry of what it has cost", async () => {
      const vendors = [nothing(), failing(new UpstreamError("rejected", "no"))];
      const { core, request, charges, isAllGivenBack } = openText(vendors, { budget: 50_000n });
      const failure = handleText(core, request(), payload({ stream }));
      await expect(failure).rejects.toMatchObject({ kind: "rejected" });
      expect(charges()).toMatchObject([{ channel: "channel-0", amount: 0n, orphanCost: 5n }]);
      expect(await isAllGivenBack()).toBe(true);
    });

    test("before a refusal of the gateway itself or a client that leaves has its entry, too", async () => {
      const refused = failing(new GatewayError("invalid_parameter", "The link cannot be read."));
      const { core, request, charges, isAllGivenBack } = openText([nothing(), refused], {
        budget: 50_000n,
        orphanCostCap: 5n,
      });
      await expect(handleText(core, request(), payload({ stream }))).rejects.toThrow("link");
      expect(charges()).toMatchObject([{ channel: "channel-0", amount: 0n, orphanCost: 5n, flags: [] }]);
      const leaving = new AbortController();
      const left: TextUpstream = {
        dialect: "chat",
        send: () => {
          leaving.abort();
          return Promise.reject(new UpstreamError("unreachable", "no"));
        },
      };
      expect(await isAllGivenBack()).toBe(true);
      await expect(handleText(core, request(), payload())).rejects.toMatchObject({
        code: "rate_limit_exceeded",
      });
      const gone = openText([nothing(), left], { budget: 50_000n });
      const context = { ...gone.request(), signal: leaving.signal };
      await expect(handleText(gone.core, context, payload({ stream }))).rejects.toThrow();
      expect(gone.charges()).toMatchObject([{ amount: 0n, orphanCost: 5n }]);
    });

    test("before a call that ended without a reply: that one costs as much", async () => {
      const lost = failing(new UpstreamError("timeout", "no", { isAmbiguous: true }));
      const { charges } = await serve([nothing(), lost, nothing()], { stream });
      expect(charges()).toMatchObject([{ amount: 0n, orphanCost: 15n }]);
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
  const first = openText([malformed, whole()]);
  const context = first.request();
  await handleText(first.core, context, payload());
  expect(context.attempts.map(({ outcome }) => outcome)).toEqual(["broken", "answered"]);
  // Both vendors are paid. The first vendor's malformed reply is recorded as orphan cost.
  expect(first.charges()).toMatchObject([{ amount: 7n, orphanCost: 7n }]);
  const alone = openText([malformed]);
  const failure = handleText(alone.core, alone.request(), payload());
  await expect(failure).rejects.toMatchObject({ kind: "broken" });
  expect(alone.charges()).toEqual([]);
});

describe("an input that is too long or too large for a vendor", () => {
  const tooLong = failing(new UpstreamError("too_long", "no", { publicMessage: "Too long." }));
  const withWindows = (windows: (number | undefined)[], model = MODEL) => {
    const vendors = [tooLong, ...windows.slice(1).map(() => whole())];
    const opened = openText(vendors, { model });
    const route = routeOf(opened.core.snapshot.directory(), opened.principal, "m");
    for (const [index, contextWindow] of windows.entries())
      Object.assign(route.targets[index]!, { contextWindow });
    return opened;
  };
  const served = async ({ core, request }: ReturnType<typeof openText>, fields = {}) => {
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
    expect(await served(openText([tooLarge, whole()]))).toEqual({
      failure: null,
      calls: ["channel-0 too_large", "channel-1 answered"],
    });
    const { failure } = await served(openText([tooLarge]));
    expect(asGatewayError(failure)).toMatchObject({ code: "payload_too_large", status: 413 });
  });
});
