import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { UpstreamError, type UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { arkOrder, type Change, openArk } from "../support/ark-calls.ts";
import { failureOf, looksOf } from "../support/image-calls.ts";
import { STATUS_BY_CODE } from "../upstreams/ark/refusals.ts";
import { SIMULATED_KEY, startArk } from "../upstreams/ark.ts";
import type { Plan } from "../upstreams/plan.ts";
import type { Simulator } from "../upstreams/simulator.ts";

const never = new AbortController().signal;
let vendor: Simulator;

beforeAll(async () => {
  vendor = await startArk();
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

const draw = (change: Change = {}, id?: string, signal = never) =>
  openArk(vendor.url).draw(arkOrder(change, id), signal);

describe("a failure", () => {
  const kinds: Record<string, UpstreamErrorKind> = {
    InvalidParameter: "rejected",
    MissingParameter: "rejected",
    AuthenticationError: "account",
    QuotaExceeded: "account",
    SetLimitExceeded: "account",
    ServerOverloaded: "overloaded",
    InflightBatchsizeExceeded: "overloaded",
    InternalServiceError: "overloaded",
  };
  const kindByStatus: Record<number, UpstreamErrorKind> = { 403: "account", 404: "account", 429: "limited" };
  const rows = Object.entries(STATUS_BY_CODE).map(([code, status]): [string, number, UpstreamErrorKind] => {
    const kind = code.includes("Sensitive")
      ? "refused"
      : code.startsWith("InvalidImage")
        ? "rejected"
        : undefined;
    return [code, status, kind ?? kinds[code] ?? kindByStatus[status]!];
  });
  test.each(rows)("%s (%i) is %s", async (code, status, kind) => {
    vendor.next({ fault: "error-status", text: code, retryAfter: "7" });
    const error = await failureOf(draw());
    expect(error).toMatchObject({ kind, status, isAmbiguous: false });
    expect(error.retryAfterSeconds).toBe(kind === "account" ? undefined : 7);
    const isTold = kind === "rejected" || kind === "refused";
    expect(error.publicMessage).toBe(isTold ? "The request failed." : undefined);
    expect(vendor.hits).toHaveLength(1);
  });

  test.each(rows)("%s inside a success is told apart in the same way", async (code, _status, kind) => {
    vendor.next({ fault: "error-in-200", text: code }, { fault: "failed-items", text: code });
    expect(await failureOf(draw())).toMatchObject({ kind, status: 200 });
    expect(await failureOf(draw())).toMatchObject({ kind, status: 200 });
  });

  test.each([
    [{ fault: "error-status", status: 502 }, "overloaded"],
    [{ fault: "error-status", status: 503, text: "Whatever" }, "overloaded"],
    [{ fault: "error-status", status: 418 }, "broken"],
    [{ fault: "error-in-200", text: "Whatever" }, "broken"],
    [{ fault: "no-images" }, "broken"],
    [{ fault: "bad-base64" }, "broken"],
    [{ fault: "html" }, "broken"],
    [{ fault: "empty" }, "broken"],
    [{ fault: "redirect" }, "broken"],
    [{ fault: "garbage" }, "broken"],
    [{ fault: "flood" }, "broken"],
    [{ fault: "gzip-bomb" }, "broken"],
    [{ fault: "truncated" }, "broken"],
    [{ fault: "reset-midway" }, "broken"],
    [{ fault: "close-midway" }, "broken"],
    [{ fault: "reset-before-headers" }, "unreachable"],
    [{ fault: "close-before-headers" }, "unreachable"],
  ] as [Plan, UpstreamErrorKind][])("of the sort %j is %s", async (plan, kind) => {
    vendor.next(plan);
    expect((await failureOf(draw())).kind).toBe(kind);
  });

  test.each([
    ["7", 7],
    ["1.2", 2],
    ["-1", 0],
    ["1e9", 3600],
    ["soon", undefined],
    [undefined, undefined],
  ])("by throttling with the hint %s waits %s seconds", async (retryAfter, seconds) => {
    vendor.next({ fault: "error-status", text: "ModelAccountIpmRateLimitExceeded", retryAfter });
    expect((await failureOf(draw())).retryAfterSeconds).toBe(seconds);
  });

  test("of a wrong key, or of a name of the other region, is the account's", async () => {
    expect((await failureOf(openArk(vendor.url, { apiKey: "wrong" }).draw(arkOrder(), never))).status).toBe(
      401,
    );
    const foreign = { ...arkOrder(), upstreamModel: "dola-seedream-5-0-pro-260628" };
    expect(await failureOf(openArk(vendor.url).draw(foreign, never))).toMatchObject({
      kind: "account",
      status: 404,
    });
  });

  test("never tells the credential", async () => {
    vendor.next("echo-authorization");
    const error = await failureOf(draw());
    expect(error.kind).toBe("rejected");
    expect(Bun.inspect(error)).not.toContain(SIMULATED_KEY);
    expect(error.message).toContain("[redacted]");
    expect(error.publicMessage).toBeUndefined();
  });
});

describe("a picture given as a link", () => {
  test("is fetched from the vendor's own address, without the credential", async () => {
    vendor.next("links");
    expect(await looksOf(await draw())).toEqual(["1024x1024 jpeg"]);
    const { headers, method } = vendor.hits[1]!;
    expect(method).toBe("GET");
    expect(headers).not.toHaveProperty("authorization");
  });

  test("is fetched again once when that fails", async () => {
    vendor.next({ fault: "links", linked: [{ fault: "error-status", status: 503 }] });
    expect((await draw()).images).toHaveLength(1);
    expect(vendor.hits).toHaveLength(3);
  });

  test.each([
    ["has expired", { fault: "error-status", status: 403 }],
    ["breaks off", { fault: "reset-midway" }],
    ["leads elsewhere", { fault: "redirect" }],
    ["is empty", { fault: "empty" }],
    ["never ends", { fault: "flood" }],
  ] as [string, Plan][])("that %s twice leaves nothing, though the work was done", async (_, plan) => {
    vendor.next({ fault: "links", linked: [plan, plan] });
    expect(await failureOf(draw())).toMatchObject({ kind: "broken", isAmbiguous: true });
    expect(vendor.hits).toHaveLength(3);
  });

  test.each([
    "http://127.0.0.1:1",
    "https://127.0.0.1",
    "https://10.0.0.1",
    "https://localhost",
    "file:///etc",
  ])("at %s is not fetched", async (text) => {
    vendor.next({ fault: "links", text });
    const error = await failureOf(draw());
    expect(error).toMatchObject({ kind: "broken", isAmbiguous: true });
    expect(error.message).not.toContain("/results/");
    expect(vendor.hits).toHaveLength(1);
  });

  test("that cannot be had costs only its own place", async () => {
    const gone: Plan = { fault: "error-status", status: 404 };
    vendor.next({ fault: "links", linked: [gone, gone] });
    expect((await draw({ count: 3 }, "seedream-4-0")).images).toHaveLength(2);
    expect(vendor.hits).toHaveLength(1 + 2 + 2);
  });
});

describe("an aborted signal", () => {
  test.each([
    ["before any answer", { fault: "stall" }, 1],
    ["inside an answer", { fault: "stall-midway" }, 1],
    ["inside a linked picture", { fault: "links", linked: [{ fault: "stall-midway" }] }, 2],
  ] as [string, Plan, number][])(
    "%s ends the call with its own reason and closes it",
    async (_, plan, hits) => {
      vendor.next(plan);
      const controller = new AbortController();
      const reason = new Error("the caller went");
      const call = draw({}, undefined, controller.signal);
      await vendor.waitForHits(hits);
      await Bun.sleep(30);
      const abortedAt = performance.now();
      controller.abort(reason);
      expect(await call.catch((error: unknown) => error)).toBe(reason);
      expect((await vendor.waitForClose()) - abortedAt).toBeLessThan(200);
    },
  );

  test("closes every call that was fanned out, and what came before is kept", async () => {
    vendor.next({}, "stall", "stall");
    const controller = new AbortController();
    const call = openArk(vendor.url, { fanOut: true }).draw(arkOrder({ count: 3 }), controller.signal);
    await vendor.waitForHits(3);
    while (vendor.book.answered < 1) await Bun.sleep(5);
    await Bun.sleep(30);
    controller.abort(new UpstreamError("timeout", "too long"));
    await vendor.waitForClose(2);
    expect((await call).images).toHaveLength(1);
  });

  test("that was aborted before sends nothing", async () => {
    const reason = new Error("too late");
    const call = draw({}, undefined, AbortSignal.abort(reason));
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect(vendor.hits).toHaveLength(0);
  });
});
