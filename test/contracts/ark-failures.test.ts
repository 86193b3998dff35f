import { describe, expect, test } from "bun:test";
import { UpstreamError, type UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { describeDisconnects, describeVendor } from "../support/vendor-contract.ts";
import { ARK } from "../support/harness-options.ts";
import { failureOf, describeImages, never } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { STATUS_BY_CODE } from "../upstreams/ark/refusals.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const harness = await openHarness(ARK);
const { vendor, open, order, generate } = harness;

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
    const kind = /Sensitive|RiskDetection/.test(code)
      ? "refused"
      : code.startsWith("InvalidImage")
        ? "rejected"
        : undefined;
    return [code, status, kind ?? kinds[code] ?? kindByStatus[status]!];
  });
  test.each(rows)("%s (%i) is %s", async (code, status, kind) => {
    vendor.next({ fault: "error-status", text: code, retryAfter: "7" });
    const error = await failureOf(generate());
    expect(error).toMatchObject({ kind, status, isAmbiguous: false });
    expect(error.retryAfterSeconds).toBe(kind === "account" ? undefined : 7);
    const isPublic = kind === "rejected" || kind === "refused";
    expect(error.publicMessage).toBe(isPublic ? "The request failed." : undefined);
    expect(vendor.hits).toHaveLength(1);
  });

  test.each(rows)("%s inside a response of success has the same kind", async (code, _status, kind) => {
    vendor.next({ fault: "error-in-200", text: code }, { fault: "failed-items", text: code });
    expect(await failureOf(generate())).toMatchObject({ kind, status: 200 });
    expect(await failureOf(generate())).toMatchObject({ kind, status: 200 });
  });

  test.each([
    [{ fault: "error-status", status: 502 }, "overloaded"],
    [{ fault: "error-status", status: 503, text: "Whatever" }, "overloaded"],
    [{ fault: "error-status", status: 418 }, "broken"],
    [{ fault: "error-in-200", text: "Whatever" }, "broken"],
    [{ fault: "no-images" }, "broken"],
    [{ fault: "bad-base64" }, "broken"],
  ] as [Behaviour, UpstreamErrorKind][])("by %j is %s", async (behaviour, kind) => {
    vendor.next(behaviour);
    expect((await failureOf(generate())).kind).toBe(kind);
  });

  test.each([
    ["7", 7],
    ["1.2", 2],
    ["-1", 0],
    ["1e9", 3600],
    ["soon", undefined],
    [undefined, undefined],
  ])("by throttling with Retry-After %s has retryAfterSeconds %s", async (retryAfter, seconds) => {
    vendor.next({ fault: "error-status", text: "ModelAccountIpmRateLimitExceeded", retryAfter });
    expect((await failureOf(generate())).retryAfterSeconds).toBe(seconds);
  });

  test("by an invalid key or a model of the other region is the account's", async () => {
    expect((await failureOf(open({ apiKey: "wrong" }).generate(order(), never))).status).toBe(401);
    const foreign = { ...order(), upstreamModel: "dola-seedream-5-0-pro-260628" };
    expect(await failureOf(open().generate(foreign, never))).toMatchObject({
      kind: "account",
      status: 404,
    });
  });
});

describe("a picture returned as a link", () => {
  test("is fetched from the vendor's address without the credential", async () => {
    vendor.next("links");
    expect(await describeImages(await generate())).toEqual(["1024x1024 jpeg"]);
    const { headers, method } = vendor.hits[1]!;
    expect(method).toBe("GET");
    expect(headers).not.toHaveProperty("authorization");
  });

  test("is fetched again once after a failure", async () => {
    vendor.next({ fault: "links", linkBehaviours: [{ fault: "error-status", status: 503 }] });
    expect((await generate()).images).toHaveLength(1);
    expect(vendor.hits).toHaveLength(3);
  });

  test.each([
    ["has expired", { fault: "error-status", status: 403 }],
    ["is cut", { fault: "reset-midway" }],
    ["redirects", { fault: "redirect" }],
    ["is empty", { fault: "empty" }],
    ["is endless", { fault: "flood" }],
  ] as [string, Behaviour][])("that %s twice is broken and ambiguous", async (_, behaviour) => {
    vendor.next({ fault: "links", linkBehaviours: [behaviour, behaviour] });
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
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
    const error = await failureOf(generate());
    expect(error).toMatchObject({ kind: "broken", isAmbiguous: true });
    expect(error.message).not.toContain("/results/");
    expect(vendor.hits).toHaveLength(1);
  });

  test("that fails does not affect the others", async () => {
    const missing: Behaviour = { fault: "error-status", status: 404 };
    vendor.next({ fault: "links", linkBehaviours: [missing, missing] }, { fault: "links" });
    expect((await generate({ count: 2 }, "seedream-4-0")).images).toHaveLength(1);
    expect(vendor.hits).toHaveLength(2 + 2 + 1);
  });
});

test("an abort closes all parallel calls and keeps what succeeded before", async () => {
  vendor.next({}, "stall", "stall");
  const controller = new AbortController();
  const call = open({ fanOut: true }).generate(order({ count: 3 }), controller.signal);
  await vendor.waitForHits(3);
  while (vendor.totals.delivered < 1) await Bun.sleep(5);
  await Bun.sleep(30);
  controller.abort(new UpstreamError("timeout", "too long"));
  await vendor.waitForClose(2);
  expect((await call).images).toHaveLength(1);
});

describeDisconnects(harness, [
  ["before a response", { fault: "stall" }, 1],
  ["during a response", { fault: "stall-midway" }, 1],
  [
    "during the fetch of a linked picture",
    { fault: "links", linkBehaviours: [{ fault: "stall-midway" }] },
    2,
  ],
]);

describeVendor(harness, "echo-authorization");
