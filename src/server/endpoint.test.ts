import { describe, expect, test } from "bun:test";
import type { Server } from "bun";
import { setImmediate } from "node:timers/promises";
import { GatewayError } from "../domain/gateway-error.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { plainCore } from "../../test/support/plain-core.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { UnknownKeys } from "../gateway/access/authenticate.ts";
import type { Limiter } from "../gateway/admission/limits.ts";
import { ClientDisconnected } from "../gateway/routing/call.ts";
import { parseAddressList } from "../lib/cidr.ts";
import { systemClock } from "../lib/clock.ts";
import type { Idempotency } from "./entrance/idempotency.ts";
import { createHandler, Lifecycle, type Phase } from "./endpoint.ts";
import type { AuthenticatedExchange, HttpExchange } from "./http-exchange.ts";
import { RouteTable, type HttpRoute, type RouteResult } from "./routes.ts";

const KEY = "gk_known";
const { principal, core } = plainCore({
  model: { id: "m" } as Parameters<typeof plainCore>[0]["model"],
  limits: { concurrentImages: 1 },
});

const keyedRoute = { method: "POST", name: "keyed", family: "chat", auth: "key", scope: "ai:llm" } as const;

/**
 * Opens the handler with three routes: one for keys, one with limits, one public. Returns a function that calls the
 * handler, and the reported records.
 */
function open(handle: () => RouteResult | Promise<RouteResult>, phase: Phase = "serving") {
  return openFor(() => handle(), phase);
}

/** Opens the handler as `open` does, but with a route handler that reads the exchange. */
function openFor(
  handle: (exchange: HttpExchange) => RouteResult | Promise<RouteResult>,
  phase: Phase,
  limiter: Limiter = core.limiter,
) {
  const lifecycle = new Lifecycle();
  lifecycle.phase = phase;
  const events: RequestEvent[] = [];
  const routes: HttpRoute[] = [
    { ...keyedRoute, path: "/keyed", handle },
    { ...keyedRoute, path: "/limited", pipeline: "image", handle },
    { method: "GET", path: "/public", name: "public", family: "images", auth: "public", because: "", handle },
  ];
  const handler = createHandler({
    table: new RouteTable(routes),
    authenticator: {
      snapshot: {
        directory: () => core.snapshot.directory(),
        key: (hash) => (hash === KEY ? principal.key : null),
      },
      isWellFormed: (secret) => secret.startsWith("gk_"),
      hash: (secret) => secret,
      now: () => 0,
      unknownKeys: new UnknownKeys(systemClock, null),
    },
    playgroundKeys: async (_, keyId) => `gk_${keyId}`,
    core: { ...core, limiter },
    clock: systemClock,
    trustedProxies: parseAddressList([]),
    onEnd: (event) => events.push(event),
    lifecycle,
    beginTrace: null,
    overload: { step: 0, admit() {} },
    connections: { began() {}, ended() {} },
    // No request of this suite has an idempotency key.
    idempotency: {} as Idempotency,
    idleSeconds: 75,
  });
  const server = { timeout() {}, requestIP: () => null } as unknown as Server<undefined>;
  const call = (method: string, path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    handler(new Request(`http://gateway${path}`, { method, headers, signal }), server, {
      routes: new Set(routes),
      path: null,
    });
  return { call, events };
}

const keyed = { authorization: `Bearer ${KEY}` };
const ok = () => new Response("ok");

test("a response ends once every process counts with its correction", async () => {
  const correcting = Promise.withResolvers<void>();
  const limiter: Limiter = {
    take: () => ({
      isAdmitted: true,
      windows: [],
      reservation: { correct: () => correcting.promise, release() {} },
    }),
  };
  const { call } = openFor(
    (exchange) => {
      (exchange as AuthenticatedExchange).grant.correctTokens(5);
      return ok();
    },
    "serving",
    limiter,
  );
  const response = call("POST", "/limited", keyed);
  expect(await Promise.race([response, setImmediate("waits")])).toBe("waits");
  correcting.resolve();
  expect((await response).status).toBe(200);
});

describe("every response", () => {
  test("carries the caller's request id, or one of the gateway's own", async () => {
    const { call, events } = open(() => {
      throw new GatewayError("model_required", "Set `model`.");
    });
    const named = await call("POST", "/keyed", { ...keyed, "x-request-id": "abc-1" });
    expect(named.headers.get("x-gateway-request-id")).toBe("abc-1");
    const unnamed = await call("POST", "/keyed", { ...keyed, "x-request-id": "no good" });
    expect(unnamed.headers.get("x-gateway-request-id")).toMatch(/^req_/);
    expect(events.map(({ requestId }) => requestId)).toEqual([
      "abc-1",
      unnamed.headers.get("x-gateway-request-id")!,
    ]);
  });

  test("is reported once, with its route, key and status", async () => {
    const { call, events } = open(ok);
    expect((await call("POST", "/keyed", keyed)).status).toBe(200);
    expect(events).toMatchObject([
      { route: "keyed", status: 200, code: null, organizationId: "org", keyId: "key", isStream: false },
    ]);
  });
});

test("a request holds its slot until it has ended, however it ends", async () => {
  const waiting = Promise.withResolvers<Response>();
  const held = open(() => waiting.promise).call("POST", "/limited", keyed);
  const failing = open(() => {
    throw new TypeError("a bug");
  });
  expect((await failing.call("POST", "/limited", keyed)).status).toBe(429);
  waiting.resolve(ok());
  expect((await held).status).toBe(200);
  expect((await failing.call("POST", "/limited", keyed)).status).toBe(500);
  expect((await failing.call("POST", "/limited", keyed)).status).toBe(500);
});

test("a request is reported with its charge", async () => {
  const usage = { unit: "token", tokens: { input: 3 }, source: "upstream" } as const;
  const charge = { id: "req_1", channel: "c", usage, amount: 7n, currency: "USD" };
  const { call, events } = openFor(({ facts }) => {
    facts.charge = charge as LedgerEntry;
    return new Response("ok");
  }, "serving");
  await call("POST", "/keyed", keyed);
  expect(events).toMatchObject([{ ledgerId: "req_1", channel: "c", usage, amount: 7n, currency: "USD" }]);
});

describe("a request is refused before its handler", () => {
  test.each([
    ["an unknown path", "GET", "/nothing", keyed, 404, "not_found"],
    ["another method", "GET", "/keyed", keyed, 405, "method_not_allowed"],
    ["two Host headers", "POST", "/keyed", { ...keyed, host: "a, b" }, 400, "invalid_parameter"],
    ["a Host that is no host", "GET", "/public", { host: "x?y" }, 400, "invalid_parameter"],
    ["no key", "POST", "/keyed", {}, 401, "missing_api_key"],
    [
      "an unknown key",
      "POST",
      "/keyed",
      { authorization: "Bearer gk_other" },
      401,
      "authentication_required",
    ],
  ])("with %s", async (_, method, path, headers, status, code) => {
    const { call, events } = open(() => {
      throw new Error("called");
    });
    const response = await call(method, path, headers as Record<string, string>);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(code);
    expect(events).toMatchObject([{ status, code }]);
  });

  test("once the server stops, but for public routes", async () => {
    const { call } = open(ok, "stopping");
    const response = await call("POST", "/keyed", keyed);
    expect([response.status, response.headers.get("connection")]).toEqual([503, "close"]);
    expect((await call("GET", "/public")).status).toBe(200);
  });
});

test("while the server drains, a request is served and ends its connection", async () => {
  const { call } = open(ok, "draining");
  const response = await call("POST", "/keyed", keyed);
  expect([response.status, response.headers.get("connection")]).toEqual([200, "close"]);
});

describe("what a handler throws", () => {
  test.each([
    [new GatewayError("model_required", "Set `model`."), 400, "model_required"],
    [new UpstreamError("timeout", "vendor words"), 504, "upstream_timeout"],
    [new TypeError("a bug"), 500, "internal_error"],
    [new ClientDisconnected(), 499, "caller_gone"],
  ])("%p is rendered and reported", async (thrown, status, code) => {
    const { call, events } = open(() => {
      throw thrown;
    });
    const response = await call("POST", "/keyed", keyed);
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain("vendor words");
    expect(events).toMatchObject([{ status, code }]);
  });

  test("after the client disconnected is a disconnect, whatever it is", async () => {
    const client = new AbortController();
    const { call, events } = open(() => {
      client.abort();
      throw new Error("the body broke");
    });
    expect((await call("POST", "/keyed", keyed, client.signal)).status).toBe(499);
    expect(events).toMatchObject([{ code: "caller_gone" }]);
  });
});

test("a streamed response is reported at its end, with what ended it", async () => {
  const { promise: ended, resolve } = Promise.withResolvers<GatewayError | ClientDisconnected | null>();
  const { call, events } = open(() => ({ response: new Response("begun"), ended }));
  expect((await call("POST", "/keyed", keyed)).status).toBe(200);
  expect(events).toEqual([]);
  resolve(new ClientDisconnected());
  await ended;
  await Promise.resolve();
  expect(events).toMatchObject([{ status: 200, code: "caller_gone", isStream: true }]);
  expect(events[0]!.firstByteMs).toBeNumber();
});
