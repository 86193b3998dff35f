import { describe, expect, test } from "bun:test";
import { describeDisconnects, describeErrorRows, describeVendor } from "../support/vendor-contract.ts";
import { failureOf, describeImages, never, pngReference } from "../support/image-calls.ts";
import { openHarness, type Change } from "../support/vendor-harness.ts";
import { SIMULATED_KEY, startOpenRouter } from "../upstreams/openrouter.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const harness = await openHarness({
  channel: "openrouter",
  variables: ["OPENROUTER_API_KEY", "OPENAI_API_KEY"],
  key: SIMULATED_KEY,
  start: startOpenRouter,
  path: "/api/v1",
  model: "flux-2-pro",
});
const { vendor, open, order, generate } = harness;

/** Returns an order for a model of family A, which an operator may route to this vendor. */
const richOrder = (change: Change = {}) =>
  order({ ...change, upstreamModel: "openai/gpt-image-2" }, "gpt-image-2");

describe("a generation", () => {
  test("sends exactly the documented JSON", async () => {
    const reply = await generate({ requestedSize: { kind: "tier", tier: "2K", ratio: "3:2" } });
    const body =
      '{"model":"black-forest-labs/flux.2-pro","prompt":"a red fox","aspect_ratio":"3:2","resolution":"2K"}';
    expect(vendor.hits[0]!.body.toString()).toBe(body);
    expect(vendor.hits[0]!.headers).toMatchObject({
      authorization: `Bearer ${SIMULATED_KEY}`,
      "content-type": "application/json",
      "content-length": String(body.length),
    });
    expect(await describeImages(reply)).toEqual(["2496x1664 png"]);
    expect(reply.usage).toEqual({ input: 9, output: 1120, total: 1129 });
    expect(reply.vendorCost).toEqual({ amount: 30_000_000n, currency: "USD" });
  });

  test("by a model with every option sends them all", async () => {
    const requestedSize = {
      quality: "low",
      background: "opaque",
      count: 3,
      format: "webp",
      compression: 40,
    } as const;
    const reply = await open().generate(richOrder(requestedSize), never);
    expect(vendor.hits[0]!.json()).toEqual({
      model: "openai/gpt-image-2",
      prompt: "a red fox",
      n: 3,
      aspect_ratio: "1:1",
      resolution: "1K",
      quality: "low",
      background: "opaque",
      output_format: "webp",
      output_compression: 40,
    });
    expect(await describeImages(reply)).toEqual(Array.from({ length: 3 }, () => "1024x1024 webp"));
  });

  test("as PNG sends no compression", async () => {
    await open().generate(richOrder({ format: "png", compression: 40 }), never);
    expect(vendor.hits[0]!.json()).not.toHaveProperty("output_compression");
  });

  test("of several at a model of one a call makes one, unless the channel fans out", async () => {
    expect((await generate({ count: 2 })).images).toHaveLength(1);
    expect(vendor.hits[0]!.json()).not.toHaveProperty("n");
    const reply = await open({ fanOut: true }).generate(order({ count: 2 }), never);
    expect(reply.images).toHaveLength(2);
    expect(reply.usage).toEqual({ input: 18, output: 2240, total: 2258 });
    expect(reply.vendorCost).toEqual({ amount: 60_000_000n, currency: "USD" });
  });

  test("has no usage for an impossible report", async () => {
    const behaviours: Behaviour[] = [
      { fault: "no-usage" },
      { usage: { prompt_tokens: -1, completion_tokens: 1 } },
      { usage: 7 },
    ];
    vendor.next(...behaviours);
    for (const _ of behaviours) expect((await generate()).usage).toBeUndefined();
  });

  test("returns as many pictures as came", async () => {
    vendor.next({ images: 3 });
    expect((await generate()).images).toHaveLength(3);
  });
});

describe("an edit", () => {
  test("sends its references as data URLs, and no shape where none is requested", async () => {
    const references = [pngReference(60, 30), pngReference()];
    const reply = await generate({ references });
    const link = `data:image/png;base64,${Buffer.from(await references[0]!.blob.bytes()).toString("base64")}`;
    const { input_references: sent, ...rest } = vendor.hits[0]!.json();
    expect(sent).toHaveLength(2);
    expect(Object(sent)[0]).toEqual({ type: "image_url", image_url: { url: link } });
    expect(rest).not.toHaveProperty("aspect_ratio");
    expect(await describeImages(reply)).toEqual(["1456x720 png"]);
  });
});

describeErrorRows(
  harness,
  [
    ["bad-request", "rejected"],
    ["unauthorized", "account"],
    ["no-credits", "account"],
    ["moderated", "refused"],
    ["forbidden", "broken", true],
    ["unknown-model", "broken", true],
    ["timeout", "overloaded"],
    ["too-large", "too_large"],
    ["throttled", "limited"],
    ["broken", "overloaded"],
    ["provider-down", "overloaded"],
    ["provider-late", "overloaded"],
    ["overloaded", "overloaded"],
  ],
  { inSuccess: true },
);

describe("a failure", () => {
  test.each(["no-images", "bad-base64"] as const)("to return a picture, by %s, is broken", async (fault) => {
    vendor.next(fault);
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
  });
});

describeDisconnects(harness, [
  ["before a response", { fault: "stall" }, 1],
  ["during a response", { fault: "stall-midway" }, 1],
]);

describeVendor(harness);
