import { describe, expect, test } from "bun:test";
import { UpstreamError, type UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { describeDisconnects, describeVendor } from "../support/vendor-contract.ts";
import { ARK } from "../support/harness-options.ts";
import { failureOf, describeImages, never } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { STATUS_BY_CODE } from "../upstreams/ark/refusals.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const bench = await openHarness(ARK);
const { vendor, open, order, generate } = bench;

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
    const error = await failureOf(generate());
    expect(error).toMatchObject({ kind, status, isAmbiguous: false });
    expect(error.retryAfterSeconds).toBe(kind === "account" ? undefined : 7);
    const isTold = kind === "rejected" || kind === "refused";
    expect(error.publicMessage).toBe(isTold ? "The request failed." : undefined);
    expect(vendor.hits).toHaveLength(1);
  });

  test.each(rows)("%s inside a success is told apart in the same way", async (code, _status, kind) => {
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
  ] as [Behaviour, UpstreamErrorKind][])("of the sort %j is %s", async (behaviour, kind) => {
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
  ])("by throttling with the hint %s waits %s seconds", async (retryAfter, seconds) => {
    vendor.next({ fault: "error-status", text: "ModelAccountIpmRateLimitExceeded", retryAfter });
    expect((await failureOf(generate())).retryAfterSeconds).toBe(seconds);
  });

  test("of a wrong key, or of a name of the other region, is the account's", async () => {
    expect((await failureOf(open({ apiKey: "wrong" }).generate(order(), never))).status).toBe(401);
    const foreign = { ...order(), upstreamModel: "dola-seedream-5-0-pro-260628" };
    expect(await failureOf(open().generate(foreign, never))).toMatchObject({
      kind: "account",
      status: 404,
    });
  });
});

describe("a picture given as a link", () => {
  test("is fetched from the vendor's own address, without the credential", async () => {
    vendor.next("links");
    expect(await describeImages(await generate())).toEqual(["1024x1024 jpeg"]);
    const { headers, method } = vendor.hits[1]!;
    expect(method).toBe("GET");
    expect(headers).not.toHaveProperty("authorization");
  });

  test("is fetched again once when that fails", async () => {
    vendor.next({ fault: "links", linkBehaviours: [{ fault: "error-status", status: 503 }] });
    expect((await generate()).images).toHaveLength(1);
    expect(vendor.hits).toHaveLength(3);
  });

  test.each([
    ["has expired", { fault: "error-status", status: 403 }],
    ["breaks off", { fault: "reset-midway" }],
    ["leads elsewhere", { fault: "redirect" }],
    ["is empty", { fault: "empty" }],
    ["never ends", { fault: "flood" }],
  ] as [string, Behaviour][])(
    "that %s twice leaves nothing, though the work was done",
    async (_, behaviour) => {
      vendor.next({ fault: "links", linkBehaviours: [behaviour, behaviour] });
      expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
      expect(vendor.hits).toHaveLength(3);
    },
  );

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

  test("that cannot be had costs only its own place", async () => {
    const gone: Behaviour = { fault: "error-status", status: 404 };
    vendor.next({ fault: "links", linkBehaviours: [gone, gone] });
    expect((await generate({ count: 3 }, "seedream-4-0")).images).toHaveLength(2);
    expect(vendor.hits).toHaveLength(1 + 2 + 2);
  });
});

test("a caller that goes closes every call that was fanned out, and what came before is kept", async () => {
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

describeDisconnects(bench, [
  ["before any answer", { fault: "stall" }, 1],
  ["inside an answer", { fault: "stall-midway" }, 1],
  ["inside a linked picture", { fault: "links", linkBehaviours: [{ fault: "stall-midway" }] }, 2],
]);

describeVendor(bench, "echo-authorization");
