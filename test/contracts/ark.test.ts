import { describe, expect, test } from "bun:test";
import type { RequestedSize } from "../../src/domain/image.ts";
import { ark } from "../../src/providers/ark.ts";
import { ARK } from "../support/harness-options.ts";
import {
  failureOf,
  imageModel,
  describeImages,
  makeOrder,
  never,
  pngReference,
} from "../support/image-calls.ts";
import { makeBmp, makeGif } from "../support/pictures.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { MODELS } from "../upstreams/ark/models.table.ts";
import { SIMULATED_KEY, startArk } from "../upstreams/ark.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const harness = await openHarness(ARK);
const { vendor, open, order, generate } = harness;

describe("a generation", () => {
  test("sends exactly the documented JSON and headers", async () => {
    await generate({
      requestedSize: { kind: "tier", tier: "2K", ratio: "16:9" },
      format: "png",
      prompt: 'a "fox" 狐',
    });
    const [hit] = vendor.hits;
    const body =
      '{"model":"doubao-seedream-5-0-pro-260628","prompt":"a \\"fox\\" 狐","size":"2816x1584",' +
      '"output_format":"png","response_format":"b64_json","watermark":false}';
    expect(hit!.body.toString("utf8")).toBe(body);
    expect(hit!.path).toBe("/api/v3/images/generations");
    expect(hit!.headers).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: `Bearer ${SIMULATED_KEY}`,
      connection: "keep-alive",
      "content-length": String(Buffer.byteLength(body)),
      "content-type": "application/json",
      host: hit!.headers["host"]!,
      "user-agent": "model-inference-gateway",
    });
  });

  const sizes: [RequestedSize, string][] = [
    [{ kind: "unset" }, "1024x1024"],
    [{ kind: "tier", tier: "1K", ratio: "16:9" }, "1424x800"],
    [{ kind: "tier", tier: "2K", ratio: "4:3" }, "2368x1776"],
    [{ kind: "tier", tier: "4K", ratio: "21:9" }, "3136x1344"],
    [{ kind: "exact", width: 1500, height: 1000 }, "1500x1000"],
    [{ kind: "exact", width: 512, height: 512 }, "960x960"],
    [{ kind: "exact", width: 4096, height: 4096 }, "2150x2150"],
  ];
  test.each(sizes)(
    "of the size %j requests %s and gets a picture of that size",
    async (requestedSize, size) => {
      const reply = await generate({ requestedSize });
      expect(vendor.hits[0]!.json()).toMatchObject({ size, watermark: false });
      expect(await describeImages(reply)).toEqual([`${size} jpeg`]);
    },
  );

  test("reports the vendor's tokens, none of them as input", async () => {
    const reply = await generate({ requestedSize: { kind: "tier", tier: "2K", ratio: "16:9" } });
    expect(reply.usage).toEqual({ input: 0, output: 17_424, total: 17_424 });
    expect(reply).not.toHaveProperty("quality");
    expect(vendor.totals).toMatchObject({ received: 1, delivered: 1, usages: [{ generated_images: 1 }] });
  });

  test.each([
    [{ fault: "no-usage" }, undefined],
    [{ usage: { output_tokens: -1, total_tokens: 3 } }, undefined],
    [{ usage: { output_tokens: 1.5 } }, undefined],
    [{ usage: "many" }, undefined],
    [{ usage: { output_tokens: 9, total_tokens: 4 } }, { input: 0, output: 9, total: 9 }],
    [{ usage: { output_tokens: 9, total_tokens: 12 } }, { input: 3, output: 9, total: 12 }],
  ] as [Behaviour, unknown][])("with the usage %j reports %j", async (behaviour, usage) => {
    vendor.next(behaviour);
    expect((await generate()).usage).toEqual(usage as never);
  });

  test.each([
    ["seedream-5-0-pro", undefined, "jpeg", "jpeg"],
    ["seedream-5-0-pro", "png", "png", "png"],
    ["seedream-5-0-pro", "webp", "png", "png"],
    ["seedream-5-0-lite", "png", "png", "png"],
    ["seedream-4-5", "png", undefined, "jpeg"],
    ["seedream-4-0", undefined, undefined, "jpeg"],
  ] as const)("by %s in the format %s sends %s and gets %s", async (id, format, sent, got) => {
    const reply = await generate({ format }, id);
    expect(vendor.hits[0]!.json()["output_format"]).toBe(sent!);
    expect((await describeImages(reply))[0]).toEndWith(got);
  });

  test("reads a response with escaped slashes, and one in many pieces", async () => {
    vendor.next("escaped-slashes", "gzip");
    expect(await describeImages(await generate())).toEqual(["1024x1024 jpeg"]);
    expect(await describeImages(await generate())).toEqual(["1024x1024 jpeg"]);
  });
});

describe("several images", () => {
  test("are one, without a count, where the channel does not fan out", async () => {
    const reply = await open({ fanOut: false }).generate(order({ count: 4 }, "seedream-4-0"), never);
    expect(reply.images).toHaveLength(1);
    expect(vendor.hits).toHaveLength(1);
    expect(vendor.hits[0]!.body.toString()).not.toMatch(/sequential|max_images|"n"/);
  });

  test("are as many calls with summed usage on the shipped channels", async () => {
    const reply = await generate({ count: 3 });
    expect(await describeImages(reply)).toEqual(Array(3).fill("1024x1024 jpeg"));
    expect(reply.usage).toEqual({ input: 0, output: 3 * 4096, total: 3 * 4096 });
    expect(vendor.hits).toHaveLength(3);
  });

  test("are those that succeeded, and an error only when none did", async () => {
    const refusal: Behaviour = { fault: "content-refused", text: "OutputImageSensitiveContentDetected" };
    vendor.next(refusal, {}, { fault: "error-status", text: "InternalServiceError" });
    expect((await open({ fanOut: true }).generate(order({ count: 3 }), never)).images).toHaveLength(1);
    vendor.next(refusal, refusal);
    const failed = open({ fanOut: true }).generate(order({ count: 2 }), never);
    expect((await failureOf(failed)).kind).toBe("refused");
  });
});

describe("an edit", () => {
  test("sends its references in order as data URLs, with a content length", async () => {
    const references = [pngReference(32, 16), pngReference(16, 48)];
    const bytes = await Promise.all(references.map(({ blob }) => blob.bytes()));
    await generate({ references, requestedSize: { kind: "tier", tier: "1K", ratio: "1:1" } });
    const [hit] = vendor.hits;
    expect(hit!.json()["image"]).toEqual(
      bytes.map((image) => `data:image/png;base64,${Buffer.from(image).toString("base64")}`),
    );
    expect(hit!.headers["content-length"]).toBe(String(hit!.body.byteLength));
    expect(vendor.totals.usages).toMatchObject([{ input_images: 2 }]);
  });

  test("of one image sends it alone", async () => {
    await generate({ references: [pngReference()] });
    expect(vendor.hits[0]!.json()["image"]).toStartWith("data:image/png;base64,");
  });

  test("without a size keeps the shape of the first image", async () => {
    const reply = await generate({ references: [pngReference(320, 180), pngReference()] });
    expect(await describeImages(reply)).toEqual(["1424x800 jpeg"]);
  });

  test("sends formats that the vendor reads unchanged", async () => {
    const gif = { blob: new Blob([makeGif(20, 20, 1)]), format: "gif" as const, width: 20, height: 20 };
    const bmp = { blob: new Blob([makeBmp(20, 20)]), format: "bmp" as const, width: 20, height: 20 };
    await generate({ references: [gif, bmp] });
    const images = vendor.hits[0]!.json()["image"] as string[];
    expect(images.map((image) => image.slice(0, 16))).toEqual(["data:image/gif;b", "data:image/bmp;b"]);
  });

  test("of an image over 30 MB sends a smaller file of the same pixels", async () => {
    const noise = new Uint8Array(31_000_000);
    const big = new Blob([await pngReference(64, 64).blob.bytes(), noise]);
    await generate({ references: [{ blob: big, format: "png", width: 64, height: 64 }] });
    const image = vendor.hits[0]!.json()["image"] as string;
    expect(image).toStartWith("data:image/webp;base64,");
    const sent = new Blob([Buffer.from(image.slice(image.indexOf(",") + 1), "base64")]);
    expect(await describeImages({ images: [sent] })).toEqual(["64x64 webp"]);
  });

  test("of an unreadable image is rejected, with its index", async () => {
    const blob = new Blob(["\0\0\0\x20ftypavif"]);
    const references = [pngReference(), { blob, format: "avif" as const, width: 9, height: 9 }];
    expect(await failureOf(generate({ references }))).toMatchObject({ kind: "rejected", param: "image" });
    expect(vendor.hits).toHaveLength(0);
  });

  test("that the vendor rejects has the vendor's message without ids", async () => {
    const error = await failureOf(generate({ references: [pngReference(8, 8)] }));
    expect(error).toMatchObject({
      kind: "rejected",
      status: 400,
      param: "image",
      publicMessage:
        "The parameter `image` specified in the request is not valid: size of the image is not supported.",
    });
  });
});

describe("the catalogue", () => {
  const ids = ["seedream-5-0-pro", "seedream-5-0-lite", "seedream-4-5", "seedream-4-0"];
  test.each(ids)("has %s in both regions, with valid sizes and a price for each tier", (id) => {
    const { model, targets } = imageModel(harness.settings, id);
    expect(targets.map(({ channel }) => channel.settings)).toMatchObject([
      { region: "cn" },
      { region: "global" },
    ]);
    const [china, abroad] = targets.map(({ upstreamModel }) => upstreamModel);
    const rules = MODELS.cn[china!]!;
    expect(MODELS.global[abroad!]).toBe(rules);
    expect(model.image.formats.length > 1).toBe(rules.hasFormat);
    expect(model.image.maxImagesPerCall).toBe(1);
    expect(model.image.bounds).toMatchObject({ minPixels: rules.minPixels, maxPixels: rules.maxPixels });
    for (const tier of model.image.tiers)
      for (const ratio of model.image.ratios) {
        const { size } = makeOrder(model, china!, { requestedSize: { kind: "tier", tier, ratio } });
        expect(model.image.sizes[tier]![ratio]).toBe(`${size.width}x${size.height}`);
      }
    const price = harness.settings.prices.get(id);
    expect(price).toMatchObject({ unit: "image", currency: "USD" });
    expect(Object.keys(price && "perImage" in price ? price.perImage : {})).toEqual(model.image.tiers);
  });

  test("has the address of each region", async () => {
    expect(ark.settings.safeParse({ region: "eu", apiKey: "k" }).success).toBe(false);
    await using abroad = await startArk({ region: "global" });
    const upstream = open({ baseUrl: `${abroad.url}/api/v3`, region: "global" });
    const { model, targets } = imageModel(harness.settings, "seedream-5-0-pro");
    expect((await upstream.generate(makeOrder(model, targets[1]!.upstreamModel), never)).images).toHaveLength(
      1,
    );
  });
});
