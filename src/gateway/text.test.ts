import { describe, expect, test } from "bun:test";
import type { PlainCoreOptions } from "../../test/support/plain-core.ts";
import {
  failing,
  openText,
  payload,
  PRICE,
  RATE,
  readOutcome,
  USAGE,
  whole,
} from "../../test/support/plain-text.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { untilAborted } from "../lib/waiting.ts";
import { ClientDisconnected } from "./routing/call.ts";
import { handleText } from "./text.ts";
import type { TextCall, TextUpstream } from "./upstreams.ts";

describe("a whole answer", () => {
  test("names the caller's model and is charged for the vendor's usage", async () => {
    const { core, request, charges, isAllGivenBack } = openText([whole()]);
    const context = request();
    const text = await readOutcome(await handleText(core, context, payload()));
    expect(JSON.parse(text)).toMatchObject({ model: "m", usage: USAGE });
    expect(charges()).toEqual([context.facts.charge!]);
    expect(charges()[0]).toMatchObject({ id: "req_own", requestId: "req_caller", amount: 7n, flags: [] });
    expect(await isAllGivenBack()).toBe(true);
  });

  test("comes from the next target when the first fails, and every attempt is known", async () => {
    const { core, request, charges } = openText([failing(new UpstreamError("unreachable", "no")), whole()]);
    const context = request();
    await handleText(core, context, payload());
    expect(context.attempts.map(({ channel, outcome }) => [channel, outcome])).toEqual([
      ["channel-0", "unreachable"],
      ["channel-1", "answered"],
    ]);
    expect(charges()[0]).toMatchObject({ channel: "channel-1" });
  });

  test("that cannot be recorded is an error, and its hold is given back", async () => {
    const { core, request, journal, isAllGivenBack } = openText([whole()]);
    journal.isWritable = false;
    const context = request();
    await expect(handleText(core, context, payload())).rejects.toMatchObject({
      code: "dependency_unavailable",
    });
    expect(context.facts.charge).toBeNull();
    expect(await isAllGivenBack()).toBe(true);
  });

  test("corrects the tokens it was counted with", async () => {
    const { core, request } = openText([whole()], { limits: { tokensPerMinute: 200 } });
    await handleText(core, request(), payload());
    const { limitState } = await handleText(core, request(), payload({ max_tokens: 1 }));
    expect(limitState?.tokens?.remaining).toBeGreaterThan(200 - 7 - 40);
  });
});

test("a model whose channels cannot be used here is unavailable, and not unknown", async () => {
  const { core, request, isAllGivenBack } = openText([]);
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
  const { core, request, charges, isAllGivenBack } = openText([{ dialect: "chat", send: once }], {
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
  /** Disconnects the client when the vendor has been called. */
  async function disconnect(options: Partial<PlainCoreOptions> = {}, isStream = false, isEnding = false) {
    const client = new AbortController();
    const { promise: called, resolve } = Promise.withResolvers<void>();
    const send = ({ signal }: TextCall): Promise<never> => {
      resolve();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const opened = openText([{ dialect: "chat", send }], options);
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
    const failed = openText([failing(new UpstreamError("overloaded", "no"))]);
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
    const { core, request, charges, isAllGivenBack } = openText([failed, reading], { budget: 50_000n });
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
  const spread = openText([{ dialect: "chat", send }], { budget: 1_200n });
  const { coveredTokens } = await handleText(spread.core, spread.request(), payload({ n: 3 }));
  // A token costs one nano-unit. The hold of 1,200 also covers the prompt, and the rest is divided by three choices.
  expect(coveredTokens).toBeWithin(1_000 / 3, 1_200 / 3);
  expect(told).toEqual([coveredTokens]);
});

test("a request that its budget does not cover calls nobody and frees what it counted", async () => {
  const { core, request, journal } = openText([failing(new Error("called"))], { budget: 5n });
  await expect(handleText(core, request(), payload())).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
  expect(journal.records).toEqual([]);
  const limited = openText([failing(new Error("called"))], { budget: 5n, limits: { tokensPerMinute: 200 } });
  for (let count = 0; count < 3; count += 1)
    await expect(
      handleText(limited.core, limited.request(), payload({ max_tokens: 100 })),
    ).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
});

test("every choice is held and counted", async () => {
  const choices = payload({ max_tokens: 100, n: 3 });
  const poor = openText([failing(new Error("called"))], { budget: 250n });
  await expect(handleText(poor.core, poor.request(), choices)).rejects.toMatchObject({
    code: "BILLING_BLOCKED",
  });
  const limited = openText([failing(new Error("called"))], { limits: { tokensPerMinute: 250 } });
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
  const { core, request } = openText([vendor], { budget: 600n });
  const { coveredTokens } = await handleText(core, request(), payload());
  expect(coveredTokens).toBeWithin(256, 600);
  const rich = openText([vendor]);
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
  const { core, request, charges } = openText([vendor]);
  const directory = { ...core.snapshot.directory(), price: () => price };
  const snapshot = { ...core.snapshot, directory: () => directory };
  await handleText({ ...core, snapshot }, request(), payload());
  expect(charges()).toMatchObject([{ amount: 7n }]);
});

test("a model without a price calls nobody", async () => {
  const { core, request } = openText([failing(new Error("called"))], { price: undefined });
  await expect(handleText(core, request(), payload())).rejects.toMatchObject({
    code: "MODEL_PRICE_NOT_CONFIGURED",
  });
});
