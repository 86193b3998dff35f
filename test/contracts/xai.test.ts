import { describe, expect, test } from "bun:test";
import type { RequestedSize } from "../../src/domain/image.ts";
import { XAI } from "../support/harness-options.ts";
import {
  failureOf,
  imageModel,
  describeImages,
  pngReference,
  webpReference,
} from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import { SIMULATED_KEY } from "../upstreams/xai.ts";

const harness = await openHarness(XAI);
const { vendor, generate } = harness;

describe("a generation", () => {
  test("sends exactly the documented JSON and headers", async () => {
    const requestedSize = { kind: "tier", tier: "2K", ratio: "3:2" } as const;
    const { vendorCost } = await generate({ requestedSize, count: 2, format: "png" });
    expect(vendorCost).toEqual({ amount: 40_000_000n, currency: "USD" });
    const [hit] = vendor.hits;
    const body =
      '{"model":"grok-imagine-image","prompt":"a red fox","n":2,"aspect_ratio":"3:2","resolution":"2k",' +
      '"response_format":"b64_json"}';
    expect(hit!.body.toString("utf8")).toBe(body);
    expect(hit!.path).toBe("/v1/images/generations");
    expect(hit!.headers).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: `Bearer ${SIMULATED_KEY}`,
      connection: "keep-alive",
      "content-length": String(body.length),
      "content-type": "application/json",
      host: hit!.headers["host"]!,
      "user-agent": "model-inference-gateway",
    });
  });

  const sizes: [RequestedSize, string, string][] = [
    [{ kind: "unset" }, "1:1", "1k"],
    [{ kind: "tier", tier: "1K", ratio: "16:9" }, "16:9", "1k"],
    [{ kind: "tier", tier: "4K", ratio: "9:19.5" }, "9:19.5", "2k"],
    [{ kind: "tier", tier: null, ratio: "21:9" }, "20:9", "1k"],
    [{ kind: "exact", width: 1920, height: 1080 }, "16:9", "1k"],
    [{ kind: "exact", width: 2048, height: 2048 }, "1:1", "2k"],
  ];
  test.each(sizes)(
    "of the size %j asks for the ratio %s at %s, never for a size",
    async (requestedSize, ratio, at) => {
      await generate({ requestedSize });
      const sent = vendor.hits[0]!.json();
      expect(sent).toMatchObject({ aspect_ratio: ratio, resolution: at });
      expect(sent).not.toHaveProperty("size");
    },
  );

  test("returns the requested pictures of one call, without token usage", async () => {
    const reply = await generate({ count: 4 });
    expect(await describeImages(reply)).toEqual(Array(4).fill("1024x1024 jpeg"));
    expect(reply.usage).toBeUndefined();
    expect(reply.quality).toBeUndefined();
    expect(vendor.totals).toMatchObject({ received: 1, delivered: 1 });
  });

  test.each([
    { fault: "no-usage" },
    { usage: { cost_in_usd_ticks: "many" } },
    { fault: "gzip" },
  ] as Behaviour[])("with the response %j succeeds", async (behaviour) => {
    vendor.next(behaviour);
    expect((await generate()).images).toHaveLength(1);
  });

  test("by a model with qualities sends the catalogue's default and reports it", async () => {
    const reply = await generate({ quality: "auto" }, "grok-imagine-image-2.0");
    expect(vendor.hits[0]!.json()).toMatchObject({ model: "grok-imagine-image-2.0", quality: "medium" });
    expect(reply.quality).toBe("medium");
  });
});

describe("an edit", () => {
  test("of one image sends it as a data URL in JSON, without a ratio", async () => {
    const reference = pngReference(64, 32);
    const reply = await generate({
      references: [reference],
      requestedSize: { kind: "tier", tier: "1K", ratio: "1:1" },
    });
    const [hit] = vendor.hits;
    const data = Buffer.from(await reference.blob.bytes()).toString("base64");
    expect(hit!.path).toBe("/v1/images/edits");
    expect(hit!.json()).toEqual({
      model: "grok-imagine-image",
      prompt: "a red fox",
      image: { url: `data:image/png;base64,${data}`, type: "image_url" },
      n: 1,
      resolution: "1k",
      response_format: "b64_json",
    });
    expect(hit!.headers["content-length"]).toBe(String(hit!.body.byteLength));
    expect(await describeImages(reply)).toEqual(["1456x720 jpeg"]);
  });

  test("of several images sends a ratio only when one is requested", async () => {
    const references = [pngReference(64, 32), pngReference()];
    await generate({ references });
    await generate({ references, requestedSize: { kind: "tier", tier: "1K", ratio: "3:4" } });
    const [first, second] = vendor.hits.map((hit) => hit.json());
    expect(first!["images"]).toHaveLength(2);
    expect(first).not.toHaveProperty("aspect_ratio");
    expect(first).not.toHaveProperty("image");
    expect(second).toMatchObject({ aspect_ratio: "3:4" });
  });

  test("of an image in another format sends one that the vendor reads", async () => {
    await generate({ references: [await webpReference()] });
    expect(vendor.hits[0]!.json()["image"]).toMatchObject({
      url: expect.stringMatching(/^data:image\/png;base64,/),
    });
  });

  test("of more images than the vendor takes is rejected with its message", async () => {
    const references = Array.from({ length: 4 }, () => pngReference());
    expect(await failureOf(generate({ references }))).toMatchObject({
      kind: "rejected",
      publicMessage: "1 to 3 images are supported",
    });
  });
});

describe("the catalogue", () => {
  test.each(["grok-imagine-image", "grok-imagine-image-2.0"])(
    "offers %s with every ratio and price",
    (id) => {
      const { model, targets } = imageModel(harness.settings, id);
      expect(targets.map(({ channel }) => channel.id)).toEqual(["xai"]);
      for (const tier of model.image.tiers)
        expect(Object.keys(model.image.sizes[tier]!)).toEqual(model.image.ratios);
      const price = harness.settings.prices.get(id);
      expect(Object.keys(price && "perImage" in price ? price.perImage : {})).toEqual(model.image.tiers);
    },
  );
});
