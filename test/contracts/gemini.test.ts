import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { ImageOrder, ImageReply, ReferenceImage } from "../../src/domain/image.ts";
import type { ImageModel } from "../../src/domain/model.ts";
import type { UpstreamError } from "../../src/domain/upstream-error.ts";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { gemini } from "../../src/providers/gemini/index.ts";
import { makeBmp, makeHeif, makePng, makeTiff } from "../support/pictures.ts";
import { MODELS, pixelsOf } from "../upstreams/gemini/models.table.ts";
import { SIMULATED_KEY, startGemini } from "../upstreams/gemini.ts";
import type { Plan } from "../upstreams/plan.ts";

const vendor = await startGemini();
const never = new AbortController().signal;

afterAll(() => vendor.close());
beforeEach(() => vendor.reset());

const capability = {
  sizeMode: "table",
  tiers: ["1K", "2K", "4K"],
  ratios: ["1:1", "16:9"],
  sizes: {},
  qualities: [],
  formats: ["png"],
  backgrounds: [],
  maxImagesPerCall: 1,
} as const;

function order(change: Partial<ImageOrder> = {}): ImageOrder {
  return {
    upstreamModel: "gemini-3.1-flash-image",
    model: { type: "image", family: "B", image: capability } as unknown as ImageModel,
    prompt: "a red fox",
    size: { tier: "1K", ratio: "16:9", width: 1376, height: 768, isAuto: false },
    count: 1,
    references: [],
    ...change,
  };
}

function open(fanOut = false, baseUrl = vendor.url) {
  return gemini.image!(gemini.settings.parse({ baseUrl, apiKey: SIMULATED_KEY, fanOut }));
}

async function fail(plan: Plan, change: Partial<ImageOrder> = {}): Promise<UpstreamError> {
  vendor.next(plan);
  return await open()
    .draw(order(change), never)
    .then(
      () => Promise.reject(new Error("it succeeded")),
      (error: UpstreamError) => error,
    );
}

async function sizeOf({ images: [image] }: ImageReply): Promise<string> {
  const { width, height, format } = await readImageHeader(image!);
  return `${width}x${height} ${format}`;
}

function png(width = 8, height = 8): ReferenceImage {
  return { blob: new Blob([makePng(width, height)]), format: "png", width, height };
}

describe("the request", () => {
  test("is one that the vendor documents, with the key in its header only", async () => {
    await open().draw(order(), never);
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

  test("holds references in their order before the prompt, byte for byte", async () => {
    const references = [png(4, 4), png(5, 5), { ...png(), blob: new Blob([makePng(700, 700)]) }];
    await open().draw(order({ references }), never);
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

  test("is accepted with fourteen references of every format, those unknown to the vendor as PNG", async () => {
    const heic: ReferenceImage = { ...png(), blob: new Blob([makeHeif("heic", 8, 8)]), format: "heic" };
    const bmp: ReferenceImage = { ...png(), blob: new Blob([makeBmp(8, 8)]), format: "bmp" };
    const references = [...Array.from({ length: 12 }, () => png()), heic, bmp];
    await open().draw(order({ references }), never);
    const types = vendor.hits[0]!.body.toString("latin1").match(/image\/(png|heic)/g);
    expect(types!.slice(-3)).toEqual(["image/png", "image/heic", "image/png"]);
  });

  test("leaves an undecodable reference to the caller, before the vendor is asked", async () => {
    const tiff: ReferenceImage = { ...png(), blob: new Blob([makeTiff(8, 8)]), format: "tiff" };
    const error = await fail({}, { references: [png(), tiff] });
    expect([error.kind, error.param, error.publicMessage?.slice(0, 7)]).toEqual([
      "rejected",
      "image",
      "Image 2",
    ]);
    expect(vendor.hits).toHaveLength(0);
  });

  test("never asks for a format at this address, whatever the caller wants", async () => {
    expect(await sizeOf(await open().draw(order({ format: "jpeg", compression: 40 }), never))).toEndWith(
      " png",
    );
  });

  test("names no shape when the caller named none, so that an edit follows its first picture", async () => {
    const size = { tier: "1K", ratio: "1:1", width: 1024, height: 1024, isAuto: true } as const;
    expect(await sizeOf(await open().draw(order({ size, references: [png(16, 9)] }), never))).toBe(
      "1376x768 png",
    );
    expect(await sizeOf(await open().draw(order({ size }), never))).toBe("1024x1024 png");
  });

  test.each(Object.keys(MODELS))(
    "draws the exact size of each tier and ratio with %s",
    async (upstreamModel) => {
      const { ratios, tokens } = MODELS[upstreamModel]!;
      const tiers = (["1K", "2K"] as const).filter((tier) => tokens[tier] !== undefined);
      const wanted = tiers.flatMap((tier) =>
        ratios.slice(tier === "2K" ? -2 : 0).map((ratio) => ({ tier, ratio })),
      );
      for (const { tier, ratio } of wanted) {
        const [width, height] = pixelsOf(ratio, tier);
        const reply = await open().draw(
          order({ upstreamModel, size: { tier, ratio, width, height, isAuto: false } }),
          never,
        );
        expect([ratio, await sizeOf(reply)]).toEqual([ratio, `${width}x${height} png`]);
      }
    },
  );
});

describe("the answer", () => {
  test("gives the vendor's token counts, thoughts and references included", async () => {
    const upstreamModel = "gemini-3-pro-image";
    const { usage } = await open().draw(order({ upstreamModel, references: [png(), png()] }), never);
    expect(usage).toEqual({ input: 3 + 2 * 1120, output: 1120 + 300, total: 3 + 2240 + 1420 });
    expect(vendor.book.answered).toBe(1);
  });

  test("never gives a draft among thoughts for the picture, and survives its long signature", async () => {
    const reply = await open().draw(order({ upstreamModel: "gemini-3-pro-image" }), never);
    expect([reply.images.length, await sizeOf(reply)]).toEqual([1, "1376x768 png"]);
  });

  test("gives at most as many pictures as were asked for", async () => {
    vendor.next({ images: 3 }, { images: 3 });
    expect((await open().draw(order(), never)).images).toHaveLength(1);
    expect((await open().draw(order({ count: 2 }), never)).images).toHaveLength(2);
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
  ] as const)("reads a usage report with %s", async (_name, plan, expected) => {
    vendor.next(plan as Plan);
    expect((await open().draw(order(), never)).usage).toEqual(expected);
  });

  test.each(["gzip", "escaped-slashes"] as const)("is understood when carried as %s", async (fault) => {
    const size = { tier: "1K", ratio: "1:8", width: 384, height: 3072, isAuto: false } as const;
    vendor.next({ fault });
    expect(await sizeOf(await open().draw(order({ size }), never))).toBe("384x3072 png");
  });
});

describe("a refusal inside a success", () => {
  test.each([
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "JAILBREAK",
  ])("of the prompt for %s is refused", async (reason) => {
    const error = await fail({ fault: "content-refused", text: `prompt:${reason}` });
    expect([error.kind, error.status, error.isAmbiguous]).toEqual(["refused", 200, false]);
  });

  test.each([
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
  ])("of the picture for %s is refused, without the vendor's name", async (reason) => {
    const error = await fail({ fault: "content-refused", text: reason });
    expect([error.kind, error.isAmbiguous]).toEqual(["refused", false]);
    expect(error.publicMessage).toBe("Unable to show the generated image. Try rephrasing the prompt.");
  });

  test.each(["NO_IMAGE", "IMAGE_OTHER", "OTHER", "STOP", "MAX_TOKENS", "LANGUAGE", "A_NEW_REASON"])(
    "that only says %s is broken and may be tried elsewhere",
    async (reason) => {
      const error = await fail({ fault: "no-images", text: reason });
      expect([error.kind, error.isAmbiguous]).toEqual(["broken", false]);
    },
  );

  test("without candidates and without feedback is broken", async () => {
    expect((await fail({ fault: "choices-missing" })).kind).toBe("broken");
  });

  test("with an error in it is that error", async () => {
    expect((await fail({ fault: "error-in-200" })).kind).toBe("overloaded");
  });
});

describe("a failure", () => {
  test.each([
    ["rate limit with a delay", { fault: "rate-limited" }, "limited", 429, 35],
    [
      "rate limit with a header",
      { fault: "error-status", text: "PLAIN_EXHAUSTED", retryAfter: "7" },
      "limited",
      429,
      7,
    ],
    [
      "rate limit without a hint",
      { fault: "error-status", text: "PLAIN_EXHAUSTED" },
      "limited",
      429,
      undefined,
    ],
    ["used up day", { fault: "insufficient-quota" }, "account", 429, undefined],
    ["spending cap", { fault: "error-status", text: "SPENDING_CAP" }, "account", 429, undefined],
    ["bad key", { fault: "unauthorized" }, "account", 400, undefined],
    ["missing permission", { fault: "error-status", text: "PERMISSION_DENIED" }, "account", 403, undefined],
    ["closed region", { fault: "error-status", text: "FAILED_PRECONDITION" }, "account", 400, undefined],
    ["unknown model", { fault: "unknown-model" }, "account", 404, undefined],
    ["cancelled call", { fault: "error-status", text: "CANCELLED" }, "overloaded", 499, undefined],
    ["internal error", { fault: "error-status", text: "INTERNAL" }, "overloaded", 500, undefined],
    ["overload", { fault: "error-status", text: "UNAVAILABLE", retryAfter: "3" }, "overloaded", 503, 3],
    ["deadline", { fault: "error-status", text: "DEADLINE_EXCEEDED" }, "overloaded", 504, undefined],
    ["payload too large", { fault: "error-status", status: 413 }, "rejected", 413, undefined],
    ["status nobody expects", { fault: "error-status", status: 418 }, "broken", 418, undefined],
  ] as const)("by %s is %p %p with the hint %p", async (_name, plan, kind, status, hint) => {
    const error = await fail(plan as Plan);
    expect([error.kind, error.status, error.retryAfterSeconds]).toEqual([kind, status, hint]);
  });

  test.each([
    ["reset-before-headers", "unreachable", true],
    ["close-before-headers", "unreachable", true],
    ["garbage", "broken", true],
    ["html", "broken", false],
    ["empty", "broken", true],
    ["redirect", "broken", false],
    ["truncated", "broken", true],
    ["reset-midway", "broken", true],
    ["close-midway", "broken", true],
    ["bad-base64", "broken", true],
    ["flood", "broken", true],
  ] as const)("of carriage, %s, is %s", async (fault, kind, isAmbiguous) => {
    const error = await fail({ fault });
    expect([error.kind, error.isAmbiguous]).toEqual([kind, isAmbiguous]);
  });

  test("to connect is unreachable and safe to repeat", async () => {
    const gone = await startGemini();
    await gone.close();
    await expect(open(false, gone.url).draw(order(), never)).rejects.toMatchObject({
      kind: "unreachable",
      isAmbiguous: false,
    });
  });

  test("names the caller's field where the vendor names one of its own", async () => {
    const lite = { upstreamModel: "gemini-3.1-flash-lite-image" };
    const tier = { ...lite, size: { tier: "2K", ratio: "1:1", width: 1, height: 1, isAuto: false } } as const;
    expect(await fail({}, tier)).toMatchObject({ kind: "rejected", param: "size" });
    const ratio = { size: { tier: "1K", ratio: "7:5", width: 1, height: 1, isAuto: false } } as const;
    expect(await fail({}, ratio)).toMatchObject({ kind: "rejected", param: "aspectRatio" });
  });

  test("says nothing of the credential, also when the vendor repeats it", async () => {
    const error = await fail({ fault: "echo-authorization" });
    expect(error.kind).toBe("rejected");
    expect(`${error.message} ${error.publicMessage} ${Bun.inspect(error)}`).not.toContain(SIMULATED_KEY);
  });
});

describe("a caller that goes", () => {
  test.each(["stall", "stall-midway"] as const)("closes the vendor's connection at %s", async (fault) => {
    vendor.next(fault);
    const caller = new AbortController();
    const drawn = open().draw(order({ references: [png()] }), caller.signal);
    await vendor.waitForHits(1);
    const reason = new Error("gone");
    caller.abort(reason);
    await expect(drawn).rejects.toBe(reason);
    await vendor.waitForClose();
  });

  test("before the call sends nothing", async () => {
    await expect(open().draw(order(), AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    expect(vendor.hits).toHaveLength(0);
  });
});

describe("several pictures", () => {
  test("are one picture by one call, unless the channel fans out", async () => {
    expect((await open().draw(order({ count: 4 }), never)).images).toHaveLength(1);
    expect(vendor.hits).toHaveLength(1);
  });

  test("come by as many calls when the channel fans out, each with all references", async () => {
    const { images, usage } = await open(true).draw(order({ count: 3, references: [png()] }), never);
    expect([images.length, usage?.output, vendor.hits.length]).toEqual([3, 3 * 1120, 3]);
    const bodies = vendor.hits.map(({ body }) => body.toString("utf8"));
    expect(new Set(bodies).size).toBe(1);
  });

  test("are delivered in part when some calls fail", async () => {
    vendor.next(
      { fault: "content-refused", text: "IMAGE_SAFETY" },
      {},
      { fault: "error-status", status: 500 },
      {},
    );
    expect((await open(true).draw(order({ count: 4 }), never)).images).toHaveLength(2);
  });

  test("are refused when every call is", async () => {
    const refused: Plan = { fault: "content-refused", text: "prompt:SAFETY" };
    vendor.next(refused, refused);
    await expect(open(true).draw(order({ count: 2 }), never)).rejects.toMatchObject({ kind: "refused" });
  });

  test("are given up together when the caller goes", async () => {
    vendor.next("stall", "stall", "stall");
    const caller = new AbortController();
    const drawn = open(true).draw(order({ count: 3 }), caller.signal);
    await vendor.waitForHits(3);
    caller.abort(new Error("gone"));
    await expect(drawn).rejects.toThrow("gone");
    await vendor.waitForClose(3);
  });
});
