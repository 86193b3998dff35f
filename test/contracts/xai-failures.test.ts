import { describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { describeDisconnects, describeVendor } from "../support/vendor-contract.ts";
import { XAI } from "../support/harness-options.ts";
import { failureOf, imageModel, describeImages, makeOrder, never } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const harness = await openHarness(XAI);
const { vendor, open, order, generate } = harness;

describe("moderation", () => {
  test("of some pictures does not affect the others", async () => {
    vendor.next({ fault: "failed-items", images: 2 });
    expect((await generate({ count: 4 })).images).toHaveLength(2);
  });

  test.each([
    ["an empty item for each", { fault: "failed-items" }, 200],
    ["no item at all", { fault: "no-images" }, 200],
    ["an error", { fault: "content-refused" }, 400],
  ] as [string, Behaviour, number][])(
    "of all pictures, by %s, is a refusal",
    async (_, behaviour, status) => {
      vendor.next(behaviour);
      const error = await failureOf(generate({ count: 2 }));
      expect(error).toMatchObject({ kind: "refused", status });
      if (status === 400) expect(error.publicMessage).toBe("Generated image rejected by content moderation.");
    },
  );
});

describe("a failure", () => {
  test.each([
    [{ fault: "error-status", status: 400 }, "rejected"],
    [{ fault: "error-status", status: 422 }, "rejected"],
    [{ fault: "error-status", status: 422, text: "nested" }, "rejected"],
    [{ fault: "error-status", status: 413, text: "nested" }, "too_large"],
    [{ fault: "error-status", status: 401, text: "nested" }, "account"],
    [{ fault: "error-status", status: 402 }, "account"],
    [{ fault: "error-status", status: 403, text: "sentence" }, "broken"],
    [{ fault: "error-status", status: 404 }, "broken"],
    [{ fault: "error-status", status: 408 }, "overloaded"],
    [{ fault: "error-status", status: 429 }, "limited"],
    [{ fault: "error-status", status: 500, text: "nested" }, "overloaded"],
    [{ fault: "error-status", status: 503 }, "overloaded"],
    [{ fault: "error-in-200" }, "overloaded"],
    [{ fault: "bad-base64" }, "broken"],
  ] as [Behaviour, UpstreamErrorKind][])("by %j is %s", async (behaviour, kind) => {
    vendor.next(behaviour);
    const error = await failureOf(generate());
    expect(error.kind).toBe(kind);
    expect(error.publicMessage).toBe(["rejected", "too_large"].includes(kind) ? "Trouble." : undefined);
    expect(vendor.hits).toHaveLength(1);
  });

  test.each([
    ["7", 7],
    ["0.2", 1],
    [undefined, undefined],
  ])("by throttling with Retry-After %s has retryAfterSeconds %s", async (retryAfter, seconds) => {
    vendor.next({ fault: "error-status", status: 429, retryAfter });
    expect((await failureOf(generate())).retryAfterSeconds).toBe(seconds);
  });

  test("by an invalid key is the account's, although its status is 400", async () => {
    const error = await failureOf(open({ apiKey: "xai-wrong" }).generate(order(), never));
    expect(error).toMatchObject({ kind: "account", status: 400 });
    expect(error.publicMessage).toBeUndefined();
  });

  test("by an unknown model or field has the vendor's kind", async () => {
    const unknown = await failureOf(open().generate({ ...order(), upstreamModel: "nobody" }, never));
    expect(unknown).toMatchObject({ kind: "broken", status: 404, isByRequest: true });
    const { model } = imageModel(harness.settings, "grok-imagine-image-2.0");
    const wrong = await failureOf(open().generate(makeOrder(model, "grok-imagine-image"), never));
    expect(wrong).toMatchObject({ kind: "rejected", publicMessage: "Argument not supported: quality" });
  });
});

describe("a picture returned as a link", () => {
  test("is fetched without the credential, from the vendor's address or a public one only", async () => {
    vendor.next("links", { fault: "links", text: "https://192.168.0.1" });
    expect(await describeImages(await generate())).toEqual(["1024x1024 jpeg"]);
    expect(vendor.hits[1]!.headers).not.toHaveProperty("authorization");
    expect((await failureOf(generate())).kind).toBe("broken");
  });
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
