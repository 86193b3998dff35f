import { expect, jest, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { OrganizationSettings } from "../../domain/organization.ts";
import type { BlobStore } from "../../gateway/delivery/stored-blobs.ts";
import type { Claim, Outcome, OutcomeStore } from "../../gateway/outcomes.ts";
import { ClientDisconnected } from "../../gateway/routing/call.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import { runIdempotently } from "./idempotency.ts";
import type { HttpRoute, RouteResult } from "../routes.ts";

function exchangeOf(
  signal: AbortSignal,
  callerGone: OrganizationSettings["callerGone"] = "drain",
): AuthenticatedExchange {
  return {
    request: new Request("http://gateway/v1/chat/completions", {
      method: "POST",
      headers: { "idempotency-key": "k" },
      signal,
    }),
    path: "/v1/chat/completions",
    requestId: "r",
    principal: { key: { id: "key_1" }, organization: { id: "org_1", settings: { callerGone } } },
  } as unknown as AuthenticatedExchange;
}

/**
 * Sends a request, streamed unless `isStreamed` is false. By default, vendor calls continue after the client has
 * disconnected.
 */
async function stream({
  isClientDisconnected = false,
  callerGone = "drain",
  body = new Blob(["data: [DONE]\n\n"]).stream(),
  ending = isClientDisconnected ? new ClientDisconnected(true) : null,
  put = async () => ({ name: "large" }),
  admits = () => true,
  isStreamed = true,
}: {
  isClientDisconnected?: boolean;
  callerGone?: OrganizationSettings["callerGone"];
  body?: ReadableStream<Uint8Array<ArrayBuffer>>;
  ending?: ClientDisconnected | null;
  put?: BlobStore["put"];
  admits?: OutcomeStore["admits"];
  isStreamed?: boolean;
} = {}) {
  const stored: Outcome[] = [];
  const { promise: storing, resolve: store } = Promise.withResolvers<void>();
  const completed = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const outcomes: Partial<OutcomeStore> = {
    claim: async () => ({ kind: "claimed" }),
    release: async () => released.resolve(),
    admits,
    async complete(_: Claim, outcome: Outcome) {
      stored.push(outcome);
      completed.resolve();
      // A whole response is returned only after it is stored. For a stream, `storing` makes the store wait.
      if (isStreamed) await storing;
    },
  };
  const client = new AbortController();
  const exchange = exchangeOf(client.signal, callerGone);
  const route = {
    pipeline: "text",
    family: "chat",
    async handle(authenticated: AuthenticatedExchange): Promise<RouteResult> {
      await authenticated.claimOutcome?.({});
      if (isClientDisconnected) client.abort();
      const ended = Promise.resolve(ending);
      const headers = {
        "x-gateway-request-id": "r",
        "x-request-id": "r",
        "x-gateway-model": "m",
        date: "today",
      };
      const response = new Response(body, { headers });
      return isStreamed ? { response, ended } : response;
    },
  } as unknown as Extract<HttpRoute, { auth: "key" }>;
  const blobs: Partial<BlobStore> = { put };
  const idempotency = {
    outcomes: outcomes as OutcomeStore,
    blobs: blobs as BlobStore,
    hasSpaceToKeep: () => true,
  };
  const result = await runIdempotently(idempotency, route, exchange);
  const response = result instanceof Response ? result : result.response;
  return { response, stored, store, completed: completed.promise, released: released.promise };
}

test("a stream ends once its outcome is stored, so that a prompt retry gets it", async () => {
  const { response, store, completed } = await stream();
  const text = response.text();
  await completed;
  expect(await Promise.race([text, setImmediate("waits")])).toBe("waits");
  store();
  expect(await text).toBe("data: [DONE]\n\n");
});

test("a stream whose client left before its response is read to its end and stored", async () => {
  const { stored, completed } = await stream({ isClientDisconnected: true });
  await completed;
  expect(new TextDecoder().decode(stored[0]!.body!)).toBe("data: [DONE]\n\n");
  // The headers with the request's id are not stored, because a repetition has its own id.
  expect(stored[0]!.headers).toEqual({ "x-gateway-model": "m" });
});

test("a stream that its client reads no further gives its key back", async () => {
  const cut = { callerGone: "abort", ending: new ClientDisconnected(false) } as const;
  const { response, stored, released } = await stream(cut);
  await response.body!.cancel();
  await released;
  expect(stored).toEqual([]);
}, 5_000);

test("a whole reply of which its client leaves the rest is stored, as it is charged", async () => {
  const pieces = ["data: 1\n\n", "data: 2\n\n", "data: [DONE]\n\n"];
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(client) {
        const piece = pieces.shift();
        if (piece === undefined) client.close();
        else client.enqueue(Buffer.from(piece));
      },
    },
    { highWaterMark: 0 },
  );
  const { response, stored, completed } = await stream({ body, callerGone: "abort" });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  await completed;
  expect(new TextDecoder().decode(stored[0]!.body!)).toBe("data: 1\n\ndata: 2\n\ndata: [DONE]\n\n");
}, 5_000);

const NOT_KEPT = { body: null, blob: null, bytes: 0 };

test.each([true, false])(
  "a response that is too large is not kept, and does not run again; streamed: %p",
  async (isStreamed) => {
    const piece = new Uint8Array(2 ** 20);
    const body = new Blob(Array.from({ length: 65 }, () => piece)).stream();
    const { response, stored, store } = await stream({ body, isStreamed });
    store();
    const { size } = await response.blob();
    expect([size, stored]).toMatchObject([65 * 2 ** 20, [NOT_KEPT]]);
  },
);

test("a stream beyond what its organization may keep is not kept, and does not run again", async () => {
  const asked: unknown[] = [];
  const admits = (...question: unknown[]) => asked.push(question) === 0;
  const { response, stored, store } = await stream({ admits });
  store();
  await response.text();
  expect({ asked, stored }).toMatchObject({ asked: [["org_1", 14]], stored: [NOT_KEPT] });
});

test("a stream that no store takes is not kept, and does not run again", async () => {
  const body = new Blob([new Uint8Array(2 ** 20)]).stream();
  const put = () => Promise.reject(new Error("the disk is full"));
  const { response, stored, store } = await stream({ body, put });
  store();
  const { size } = await response.blob();
  expect([size, stored]).toMatchObject([2 ** 20, [NOT_KEPT]]);
});

test("a claim is renewed while its request runs, and no longer", async () => {
  jest.useFakeTimers();
  try {
    const renewed: Claim[] = [];
    const outcomes: Partial<OutcomeStore> = {
      claim: async () => ({ kind: "claimed" }),
      renew: async (claim) => void renewed.push(claim),
      admits: () => true,
      complete: async () => {},
    };
    const idempotency = {
      outcomes: outcomes as OutcomeStore,
      blobs: {} as BlobStore,
      hasSpaceToKeep: () => true,
    };
    const { promise: vendorIsDone, resolve: answer } = Promise.withResolvers<void>();
    const { promise: isClaimed, resolve: claimed } = Promise.withResolvers<void>();
    const route = {
      pipeline: "text",
      family: "chat",
      async handle(authenticated: AuthenticatedExchange) {
        await authenticated.claimOutcome?.({});
        claimed();
        await vendorIsDone;
        return new Response("done");
      },
    } as unknown as Extract<HttpRoute, { auth: "key" }>;
    const response = runIdempotently(idempotency, route, exchangeOf(new AbortController().signal));
    await isClaimed;
    // Two renewals in a row may fail, because a claim ends a minute after its last renewal.
    for (let turn = 0; turn < 3; turn += 1) {
      jest.advanceTimersByTime(20_000);
      await setImmediate();
    }
    expect(renewed).toHaveLength(3);
    expect(new Set(renewed.map(({ id }) => id)).size).toBe(1);
    answer();
    await response;
    jest.advanceTimersByTime(60_000);
    expect(renewed).toHaveLength(3);
  } finally {
    jest.useRealTimers();
  }
});
