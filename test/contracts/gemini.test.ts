import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { ImageReply, ReferenceImage } from "../../src/domain/image.ts";
import type { SizeTier } from "../../src/domain/usage.ts";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { createGenerateContentImages } from "../../src/providers/generate-content/images.ts";
import { gemini } from "../../src/providers/gemini.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { failureOf, makeOrder, makeReference } from "../support/gemini-order.ts";
import { makeBmp, makeHeif, makePng, makeTiff } from "../support/pictures.ts";
import { MODELS } from "../upstreams/gemini/models.table.ts";
import { makeNoise } from "../upstreams/gemini/noise.ts";
import { SIMULATED_KEY, startGemini } from "../upstreams/gemini.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const vendor = await startGemini();
const never = new AbortController().signal;
const text = await Bun.file(new URL("../../catalogue/gemini.yaml", import.meta.url)).text();
const catalogue = Bun.YAML.parse(text) as { models: Record<string, { image?: Listed }> };

interface Listed {
  tiers: SizeTier[];
  ratios: string[];
  sizes: Record<string, Record<string, string>>;
}

afterAll(() => vendor.close());
beforeEach(() => vendor.reset());

function open(fanOut = false, baseUrl = vendor.url) {
  return gemini.image!(
    gemini.settings.parse({ baseUrl, apiKey: SIMULATED_KEY, fanOut }),
    new FairSemaphore(2),
  );
}

async function sizeOf({ images: [image] }: ImageReply): Promise<string> {
  const { width, height, format } = await readImageHeader(image!);
  return `${width}x${height} ${format}`;
}

describe("the request", () => {
  test("is as documented, with the key in its header only", async () => {
    await open().generate(makeOrder(), never);
    const [hit] = vendor.hits;
    expect(hit!.json()).toEqual({
      contents: [{ role: "user", parts: [{ text: "a red fox" }] }],
      generationConfig: {
        responseModalities: ["IMAGE"],
        imageConfig: { aspectRatio: "16:9", imageSize: "1K" },
      },
    });
    expect([hit!.method, hit!.path, hit!.query.size]).toEqual([
      "POST",
      "/v1beta/models/gemini-3.1-flash-image:generateContent",
      0,
    ]);
    expect(hit!.headers["x-goog-api-key"]).toBe(SIMULATED_KEY);
    expect(hit!.headers["content-length"]).toBe(String(hit!.body.byteLength));
  });

  test("has references in order before the prompt, byte for byte", async () => {
    const references = [
      makeReference(4, 4),
      makeReference(5, 5),
      { ...makeReference(), blob: new Blob([makePng(700, 700)]) },
    ];
    await open().generate(makeOrder({ references }), never);
    const { contents } = vendor.hits[0]!.json() as {
      contents: [{ parts: { inlineData?: { data: string }; text?: string }[] }];
    };
    const sent = contents[0].parts.flatMap(({ inlineData }) => (inlineData ? [inlineData.data] : []));
    const given = await Promise.all(
      references.map(async ({ blob }) => Buffer.from(await blob.arrayBuffer()).toString("base64")),
    );
    expect(sent).toEqual(given);
    expect(contents[0].parts.at(-1)).toEqual({ text: "a red fox" });
  });

  test("is accepted with fourteen references of every format, unknown ones as PNG", async () => {
    const heic: ReferenceImage = {
      ...makeReference(),
      blob: new Blob([makeHeif("heic", 8, 8)]),
      format: "heic",
    };
    const bmp: ReferenceImage = { ...makeReference(), blob: new Blob([makeBmp(8, 8)]), format: "bmp" };
    const references = [...Array.from({ length: 12 }, () => makeReference()), heic, bmp];
    await open().generate(makeOrder({ references }), never);
    const types = vendor.hits[0]!.body.toString("latin1").match(/image\/(png|heic)/g);
    expect(types!.slice(-3)).toEqual(["image/png", "image/heic", "image/png"]);
  });

  test("is rejected before the call when a reference cannot be decoded", async () => {
    const tiff: ReferenceImage = { ...makeReference(), blob: new Blob([makeTiff(8, 8)]), format: "tiff" };
    const error = await failureOf(open().generate(makeOrder({ references: [makeReference(), tiff] }), never));
    expect([error.kind, error.param, error.publicMessage?.slice(0, 7)]).toEqual([
      "rejected",
      "image",
      "Image 2",
    ]);
    expect(vendor.hits).toHaveLength(0);
  });

  test("never has a format at this address, whatever the caller requests", async () => {
    expect(
      await sizeOf(await open().generate(makeOrder({ format: "jpeg", compression: 40 }), never)),
    ).toEndWith(" png");
  });

  test("has no shape when none is requested, so that an edit keeps that of its first picture", async () => {
    const size = {
      tier: "1K",
      ratio: "1:1",
      width: 1024,
      height: 1024,
      isAuto: true,
      isShapeFree: true,
    } as const;
    expect(
      await sizeOf(await open().generate(makeOrder({ size, references: [makeReference(16, 9)] }), never)),
    ).toBe("1376x768 png");
    expect(await sizeOf(await open().generate(makeOrder({ size }), never))).toBe("1024x1024 png");
  });

  test.each(Object.keys(catalogue.models).filter((id) => catalogue.models[id]!.image))(
    "draws every size that the catalogue lists for %s",
    async (upstreamModel) => {
      const { tiers, ratios, sizes } = catalogue.models[upstreamModel]!.image!;
      expect(Object.keys(MODELS[upstreamModel]!.tokens).filter((tier) => tier !== "512")).toEqual(tiers);
      expect(ratios.toSorted()).toEqual([...MODELS[upstreamModel]!.ratios].toSorted());
      for (const tier of tiers)
        for (const ratio of ratios) {
          const [width = 0, height = 0] = sizes[tier]![ratio]!.split("x").map(Number);
          const size = { tier, ratio, width, height, isAuto: false, isShapeFree: false };
          const generated = await sizeOf(await open().generate(makeOrder({ upstreamModel, size }), never));
          expect([ratio, generated]).toEqual([ratio, `${width}x${height} png`]);
        }
    },
  );
});

describe("references too large together", () => {
  test("shrink to equal shares, while small ones stay as they are", async () => {
    const upstream = createGenerateContentImages(
      {
        baseUrl: vendor.url,
        urlOf: (model) => `${vendor.url}/v1beta/models/${model}:generateContent`,
        writeCount: (raw) => raw,
        authenticate: async () => ({ headers: { "x-goog-api-key": SIMULATED_KEY }, secret: SIMULATED_KEY }),
        takesOutputOptions: false,
        demandsRoles: false,
        maxReferenceBytes: { each: 90_000, together: 150_000 },
      },
      false,
      new FairSemaphore(2),
    );
    const large = { ...makeReference(), blob: new Blob([makeNoise(150, 150)]) };
    const small = makeReference();
    const types = () =>
      vendor.hits
        .at(-1)!
        .body.toString("latin1")
        .match(/image\/[a-z]+/g);
    await upstream.generate(makeOrder({ references: [large, large, small] }), never);
    expect(types()).toEqual(["image/png", "image/png", "image/png"]);
    await upstream.generate(makeOrder({ references: [large, large, large, small] }), never);
    expect(types()).toEqual(["image/jpeg", "image/jpeg", "image/jpeg", "image/png"]);
  });
});

describe("the response", () => {
  test("has the vendor's token counts, including thoughts and references", async () => {
    const upstreamModel = "gemini-3-pro-image";
    const { usage } = await open().generate(
      makeOrder({ upstreamModel, references: [makeReference(), makeReference()] }),
      never,
    );
    expect(usage).toEqual({
      input: 3 + 2 * 1120,
      output: 1120 + 300,
      total: 3 + 2240 + 1420,
      inputDetails: { text: 3, image: 2 * 1120 },
      outputDetails: { text: 0, image: 1120 },
    });
    expect(vendor.totals.delivered).toBe(1);
  });

  test("never takes a draft or a long signature for the picture", async () => {
    const reply = await open().generate(makeOrder({ upstreamModel: "gemini-3-pro-image" }), never);
    expect([reply.images.length, await sizeOf(reply)]).toEqual([1, "1376x768 png"]);
  });

  test("has every picture that came, also more than requested", async () => {
    vendor.next({ images: 3 });
    expect((await open().generate(makeOrder({ count: 2 }), never)).images).toHaveLength(3);
  });

  test.each([
    ["no-usage", { fault: "no-usage" }, undefined],
    ["null", { usage: null }, undefined],
    ["negative counts", { usage: { promptTokenCount: -1, candidatesTokenCount: 1120 } }, undefined],
    ["fractions", { usage: { promptTokenCount: 1.5 } }, undefined],
    ["words", { usage: { promptTokenCount: "12" } }, undefined],
    [
      "no total",
      { usage: { promptTokenCount: 5, candidatesTokenCount: 7 } },
      { input: 5, output: 7, total: 12 },
    ],
    [
      "tools",
      {
        usage: {
          promptTokenCount: 5,
          toolUsePromptTokenCount: 2,
          candidatesTokenCount: 7,
          totalTokenCount: 14,
        },
      },
      { input: 7, output: 7, total: 14 },
    ],
  ] as const)("reads a usage report with %s", async (_name, behaviour, expected) => {
    vendor.next(behaviour as Behaviour);
    expect((await open().generate(makeOrder(), never)).usage).toEqual(expected);
  });

  test.each(["gzip", "escaped-slashes"] as const)("is read when sent with %s", async (fault) => {
    const size = {
      tier: "1K",
      ratio: "1:8",
      width: 384,
      height: 3072,
      isAuto: false,
      isShapeFree: false,
    } as const;
    vendor.next({ fault });
    expect(await sizeOf(await open().generate(makeOrder({ size }), never))).toBe("384x3072 png");
  });
});

describe("several pictures", () => {
  test("are one picture of one call, unless the channel fans out", async () => {
    expect((await open().generate(makeOrder({ count: 4 }), never)).images).toHaveLength(1);
    expect(vendor.hits).toHaveLength(1);
  });

  test("are as many calls with all references when the channel fans out", async () => {
    const { images, usage } = await open(true).generate(
      makeOrder({ count: 3, references: [makeReference()] }),
      never,
    );
    expect([images.length, usage?.output, vendor.hits.length]).toEqual([3, 3 * 1120, 3]);
    const bodies = vendor.hits.map(({ body }) => body.toString("utf8"));
    expect(new Set(bodies).size).toBe(1);
  });

  test("are those that succeeded when some calls fail", async () => {
    vendor.next(
      { fault: "content-refused", text: "IMAGE_SAFETY" },
      {},
      { fault: "error-status", status: 500 },
      {},
    );
    expect((await open(true).generate(makeOrder({ count: 4 }), never)).images).toHaveLength(2);
  });

  test("are refused when every call is refused", async () => {
    const refused: Behaviour = { fault: "content-refused", text: "prompt:SAFETY" };
    vendor.next(refused, refused);
    await expect(open(true).generate(makeOrder({ count: 2 }), never)).rejects.toMatchObject({
      kind: "refused",
    });
  });

  test("are aborted together", async () => {
    vendor.next("stall", "stall", "stall");
    const caller = new AbortController();
    const generated = open(true).generate(makeOrder({ count: 3 }), caller.signal);
    await vendor.waitForHits(3);
    caller.abort(new Error("aborted"));
    await expect(generated).rejects.toThrow("aborted");
    await vendor.waitForClose(3);
  });
});
