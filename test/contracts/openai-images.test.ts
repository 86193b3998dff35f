import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  callOpenAi,
  failureOf,
  makeOrder,
  makeReference,
  type OpenAiCalls,
} from "../support/openai-calls.ts";
import { makeGif } from "../support/pictures.ts";
import { startOpenAi } from "../upstreams/openai.ts";
import type { Hit, Simulator } from "../upstreams/simulator.ts";

let vendor: Simulator;
let calls: OpenAiCalls;

beforeAll(async () => {
  vendor = await startOpenAi();
  calls = callOpenAi(vendor.url);
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

describe("a generation", () => {
  test("sends only documented fields and returns pictures of the requested size", async () => {
    const size = {
      tier: "1K",
      ratio: "16:9",
      width: 1280,
      height: 720,
      isAuto: false,
      isShapeFree: false,
    } as const;
    const order = {
      size,
      quality: "low",
      background: "opaque",
      count: 2,
      format: "webp",
      compression: 50,
    } as const;
    const reply = await calls.generate(order);
    expect(vendor.hits[0]!.path).toBe("/v1/images/generations");
    expect(vendor.hits[0]!.json()).toEqual({
      model: "gpt-image-2",
      prompt: "A quiet harbour",
      n: 2,
      size: "1280x720",
      quality: "low",
      background: "opaque",
      output_format: "webp",
      output_compression: 50,
    });
    expect(await Promise.all(reply.images.map(measure))).toEqual(
      Array.from({ length: 2 }, () => ({ width: 1280, height: 720, format: "webp" })),
    );
    expect(reply).toMatchObject({ quality: "low", background: "opaque", usage: { input: 4 } });
  });

  test("without size, quality and format sends none", async () => {
    const reply = await calls.generate({ size: { ...makeOrder().size, isAuto: true, isShapeFree: true } });
    expect(vendor.hits[0]!.json()).toEqual({
      model: "gpt-image-2",
      prompt: "A quiet harbour",
      n: 1,
    });
    expect(await measure(reply.images[0]!)).toEqual({ width: 1024, height: 1024, format: "png" });
    expect(reply).toMatchObject({ quality: "high", usage: { input: 4, output: 7024, total: 7028 } });
  });

  test("of the quality `auto` names the model's own default, or none", async () => {
    await calls.generate({ quality: "auto" });
    expect(vendor.hits[0]!.json()).not.toHaveProperty("quality");
    const { model } = makeOrder();
    const own = { ...model, image: { ...model.image, defaultQuality: "medium" } };
    await calls.generate({ quality: "auto", model: own });
    expect(vendor.hits[1]!.json()).toMatchObject({ quality: "medium" });
  });

  test("in a `data:` URL is delivered like bare base64", async () => {
    vendor.next({ fault: "data-url" });
    const { images } = await calls.generate();
    expect(await measure(images[0]!)).toMatchObject({ format: "png" });
  });

  test("requests the model's default where it does not have the format", async () => {
    const { model } = makeOrder();
    const reply = await calls.generate({
      model: { ...model, image: { ...model.image, formats: ["png", "jpeg"] } },
      format: "webp",
      compression: 50,
    });
    expect(vendor.hits[0]!.json()).toMatchObject({ output_format: "png" });
    expect(vendor.hits[0]!.json()).not.toHaveProperty("output_compression");
    expect((await measure(reply.images[0]!)).format).toBe("png");
  });

  test("returns as many images as came, fewer or more than requested", async () => {
    vendor.next({ images: 1 }, { images: 5 });
    expect((await calls.generate({ count: 4 })).images).toHaveLength(1);
    expect((await calls.generate({ count: 4 })).images).toHaveLength(5);
  });

  test("has no usage for an impossible report", async () => {
    vendor.next("no-usage", { usage: { input_tokens: -1, output_tokens: 5 } }, { usage: "many" });
    for (let index = 0; index < 3; index += 1) expect((await calls.generate()).usage).toBeUndefined();
  });

  test("reads escaped slashes and a compressed response", async () => {
    vendor.next("escaped-slashes", { fault: "gzip" });
    const format = "jpeg";
    for (let index = 0; index < 2; index += 1)
      expect((await measure((await calls.generate({ format })).images[0]!)).format).toBe("jpeg");
  });
});

describe("an edit", () => {
  test("of one image sends a form with names and types of files", async () => {
    const order = { references: [makeReference("png")], mask: makeReference("png"), quality: "high" };
    const reply = await calls.generate(order);
    const parts = await readForm(vendor.hits[0]!);
    expect(vendor.hits[0]!.path).toBe("/v1/images/edits");
    expect(parts).toEqual([
      ["model", "gpt-image-2"],
      ["prompt", "A quiet harbour"],
      ["n", "1"],
      ["size", "1024x1024"],
      ["quality", "high"],
      ["image", "image-1.png image/png"],
      ["mask", "mask.png image/png"],
    ]);
    expect(reply.images).toHaveLength(1);
  });

  test("of several images repeats the field in their order and keeps their bytes", async () => {
    const references = (["png", "jpeg", "webp"] as const).map(makeReference);
    await calls.generate({ references });
    const parts = await readForm(vendor.hits[0]!);
    expect(parts.filter(([name]) => name === "image[]").map(([, value]) => value)).toEqual([
      "image-1.png image/png",
      "image-2.jpg image/jpeg",
      "image-3.webp image/webp",
    ]);
    expect(vendor.hits[0]!.headers["content-length"]).toBe(String(vendor.hits[0]!.body.byteLength));
    expect(vendor.hits[0]!.body.includes(Buffer.from(await references[1]!.blob.bytes()))).toBe(true);
  });

  test("of a GIF, which the vendor does not read, sends a PNG", async () => {
    const blob = new Blob([makeGif(16, 16, 1)]);
    await calls.generate({ references: [{ ...makeReference("gif"), blob }] });
    const parts = await readForm(vendor.hits[0]!);
    expect(parts.at(-1)).toEqual(["image", "image-1.png image/png"]);
  });

  test("sends a prompt of any characters unchanged", async () => {
    const prompt = 'Zeile 1\r\nLine "2" — 写字 --boundary';
    await calls.generate({ prompt, references: [makeReference()] });
    expect((await readForm(vendor.hits[0]!))[1]).toEqual(["prompt", prompt]);
  });
});

describe("an image call fails", () => {
  test.each([
    ["content-refused", "refused"],
    ["no-images", "broken"],
    ["bad-base64", "broken"],
    ["truncated", "broken"],
    ["close-midway", "broken"],
    ["html", "broken"],
    ["empty", "broken"],
    ["flood", "broken"],
    ["error-in-200", "overloaded"],
    ["rate-limited", "limited"],
    ["insufficient-quota", "account"],
  ] as const)("by %s as %s", async (fault, kind) => {
    vendor.next(fault);
    expect((await failureOf(calls.generate())).kind).toBe(kind);
    expect(vendor.hits).toHaveLength(1);
  });

  test.each([
    [{ quality: "xhigh" }, "quality"],
    [{ background: "transparent" }, "background"],
    [{ size: { ...makeOrder().size, width: 1000 } }, "size"],
    [{ size: { ...makeOrder().size, width: 3840, height: 3840 } }, "size"],
    [{ references: Array.from({ length: 17 }, () => makeReference()) }, "image"],
  ])("by %o, with the field %s", async (order, param) => {
    expect(await failureOf(calls.generate(order))).toMatchObject({ kind: "rejected", param });
  });

  test("with the signal's own reason, closing the socket within 100 ms", async () => {
    vendor.next("stall-midway");
    const controller = new AbortController();
    const call = calls.generate({}, controller.signal);
    const hit = await vendor.waitForHits(1);
    while (hit.status === null) await Bun.sleep(1);
    const abortedAt = performance.now();
    const reason = new Error("too slow");
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect((await vendor.waitForClose()) - abortedAt).toBeLessThan(100);
  });

  test("while the form is being sent, by an early response or a reset", async () => {
    vendor.next("unauthorized", "reset-before-headers");
    const references = [{ ...makeReference(), blob: new Blob([new Uint8Array(8 * 1024 * 1024)]) }];
    expect((await failureOf(calls.generate({ references }))).kind).toBe("account");
    expect((await failureOf(calls.generate({ references }))).kind).toBe("unreachable");
  });
});

async function measure(image: Blob): Promise<{ width: number; height: number; format: string }> {
  const { width, height, format } = await new Bun.Image(await image.bytes()).metadata();
  return { width, height, format };
}

async function readForm({ body, headers }: Hit): Promise<[string, string][]> {
  const form = await new Response(body, { headers }).formData();
  return [...form].map(([name, value]) => [
    name,
    typeof value === "string" ? value : `${value.name} ${value.type}`,
  ]);
}
