import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ImageCapability } from "./model.ts";
import { isLegalSize } from "./size.ts";
import { deliveredTier, resolveSize, priceTier, ratioValue, readSize } from "./size.ts";
import type { SizeTier } from "./usage.ts";

const rest = { qualities: [], formats: ["png" as const], backgrounds: [], maxImagesPerCall: 1 };

/**
 * Returns a table of sizes from rows of `[ratio, pixels per tier]`. Adds the portrait form of each row, but not of
 * `1:1` and of the ratios in `landscapeOnly`.
 */
function table(
  tiers: SizeTier[],
  rows: [string, ...string[]][],
  landscapeOnly: string[],
): ImageCapability["sizes"] {
  const swap = (pair: string, separator: string) => pair.split(separator).reverse().join(separator);
  return Object.fromEntries(
    tiers.map((tier, index) => [
      tier,
      Object.fromEntries(
        rows.flatMap(([ratio, ...sizes]) => {
          const size = sizes[index]!;
          return [
            [ratio, size],
            ...(ratio === "1:1" || landscapeOnly.includes(ratio)
              ? []
              : [[swap(ratio, ":"), swap(size, "x")]]),
          ];
        }),
      ),
    ]),
  );
}

function capability(
  tiers: SizeTier[],
  rows: [string, ...string[]][],
  bounds?: ImageCapability["bounds"],
  landscapeOnly: string[] = [],
): ImageCapability {
  const sizes = table(tiers, rows, landscapeOnly);
  const ratios = Object.keys(sizes[tiers[0]!]!);
  return { sizeMode: bounds ? "pixels" : "table", tiers, ratios, sizes, bounds, ...rest };
}

const familyA = capability(
  ["1K", "2K", "4K"],
  [
    ["1:1", "1024x1024", "2048x2048", "2880x2880"],
    ["5:4", "1120x896", "2320x1856", "3200x2560"],
    ["4:3", "1152x864", "2368x1776", "3264x2448"],
    ["3:2", "1248x832", "2496x1664", "3504x2336"],
    ["16:9", "1280x720", "2560x1440", "3840x2160"],
    ["2:1", "1440x720", "2912x1456", "3840x1920"],
    ["21:9", "1568x672", "3136x1344", "3808x1632"],
    ["3:1", "1776x592", "3552x1184", "3840x1280"],
  ],
  { minPixels: 655_360, maxPixels: 8_294_400, maxEdge: 3840, multiple: 16, maxRatio: 3 },
);

const wideRows: [string, ...string[]][] = [
  ["4:1", "2048x512", "4096x1024", "8192x2048"],
  ["8:1", "3072x384", "6144x768", "12288x1536"],
];
const commonRows: [string, ...string[]][] = [
  ["1:1", "1024x1024", "2048x2048", "4096x4096"],
  ["3:2", "1264x848", "2528x1696", "5056x3392"],
  ["4:3", "1200x896", "2400x1792", "4800x3584"],
  ["5:4", "1152x928", "2304x1856", "4608x3712"],
  ["16:9", "1376x768", "2752x1536", "5504x3072"],
  ["21:9", "1584x672", "3168x1344", "6336x2688"],
];
const familyBFast = capability(["1K", "2K", "4K"], [...commonRows, ...wideRows], undefined, ["21:9"]);
const familyBQuality = capability(["1K", "2K", "4K"], commonRows, undefined, ["21:9"]);
const familyBLite = capability(["1K"], [...commonRows, ...wideRows], undefined, ["21:9"]);

const familyC = capability(
  ["1K", "2K"],
  [
    ["1:1", "1024x1024", "2048x2048"],
    ["4:3", "1152x864", "2368x1776"],
    ["16:9", "1424x800", "2816x1584"],
    ["3:2", "1248x832", "2496x1664"],
    ["21:9", "1568x672", "3136x1344"],
  ],
  { minPixels: 921_600, maxPixels: 4_624_220, maxEdge: 8602, multiple: 1, maxRatio: 16 },
);

const familyD = capability(
  ["1K", "2K"],
  [
    ["1:1", "1024x1024", "2048x2048"],
    ["4:3", "1152x864", "2304x1728"],
    ["16:9", "1376x768", "2752x1536"],
    ["3:2", "1248x832", "2496x1664"],
    ["19.5:9", "1504x704", "3008x1408"],
    ["20:9", "1536x688", "3072x1376"],
    ["2:1", "1440x720", "2880x1440"],
  ],
);

/** Catalogue data with missing values. The resolved size must be legal anyway. */
const bare: ImageCapability = {
  sizeMode: "table",
  tiers: ["2K"],
  ratios: ["1:1", "16:9"],
  sizes: {},
  ...rest,
};

const families = { familyA, familyBFast, familyBQuality, familyBLite, familyC, familyD, bare };
const entries = Object.entries(families);

const anySizeText = fc.oneof(
  fc.constantFrom("1K", "2k", "4K", "auto", "", "1.5K", "huge", "0x0", "1024", "1024x", "-5x7"),
  fc
    .tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 20_000 }))
    .map((pair) => pair.join("x")),
  fc
    .tuple(fc.integer({ min: 700, max: 3000 }), fc.integer({ min: 700, max: 3000 }))
    .map((pair) => pair.join("x")),
  fc.string(),
);
const anyRatio = fc.oneof(
  fc.constant(undefined),
  fc.tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99 })).map((pair) => pair.join(":")),
  fc.constantFrom("19.5:9", "1:1", "16x9", "wide", "1:0", "0:1", ":", "-1:2", "1e9:1"),
  fc.string(),
);
const anyRequestedSize = fc.tuple(anySizeText, anyRatio).map(([size, ratio]) => readSize(size, ratio));

describe("reading", () => {
  test.each([
    ["1024x768", undefined, { kind: "exact", width: 1024, height: 768 }],
    ["1024X768", "16:9", { kind: "exact", width: 1024, height: 768 }],
    ["1k", undefined, { kind: "tier", tier: "1K", ratio: null }],
    ["4K", "16:9", { kind: "tier", tier: "4K", ratio: "16:9" }],
    ["3K", null, { kind: "tier", tier: "4K", ratio: null }],
    ["0.5K", null, { kind: "tier", tier: "1K", ratio: null }],
    ["auto", "19.5:9", { kind: "tier", tier: null, ratio: "19.5:9" }],
    [undefined, "3x2", { kind: "tier", tier: null, ratio: "3:2" }],
    ["2K", "nonsense", { kind: "tier", tier: "2K", ratio: null }],
    ["2K", "16:0", { kind: "tier", tier: "2K", ratio: null }],
    ["auto", undefined, { kind: "unset" }],
    [null, null, { kind: "unset" }],
    ["0x100", "1:-1", { kind: "unset" }],
    ["0K", undefined, { kind: "unset" }],
    ["large", "wide", { kind: "unset" }],
    ["1024x1024x1024", undefined, { kind: "unset" }],
  ] as const)("%p with ratio %p is %p", (size, ratio, requested) => {
    expect(readSize(size, ratio)).toEqual(requested);
  });
});

describe("planning", () => {
  test.each([
    ["A", familyA, "1024x1024", undefined, "1024x1024 1K 1:1"],
    ["A", familyA, "1536x1024", undefined, "1536x1024 1K 3:2"],
    ["A", familyA, "1920x1080", undefined, "1920x1088 2K 16:9"],
    ["A", familyA, "1792x936", undefined, "1792x944 2K 2:1"],
    ["A", familyA, "4096x4096", undefined, "2880x2880 4K 1:1"],
    ["A", familyA, "8000x6000", undefined, "3264x2448 4K 4:3"],
    ["A", familyA, "512x512", undefined, "816x816 1K 1:1"],
    ["A", familyA, "100x10000", undefined, "480x1440 1K 1:3"],
    ["A", familyA, "1x999999999", undefined, "480x1440 1K 1:3"],
    ["A", familyA, "4K", "16:9", "3840x2160 4K 16:9"],
    ["A", familyA, "1K", "7:5", "1232x880 1K 4:3"],
    ["A", familyA, "2K", "10:1", "3552x1184 2K 3:1"],
    ["B fast", familyBFast, "4K", "1:8", "1536x12288 4K 1:8"],
    ["B quality", familyBQuality, "2K", "1:8", "1536x2752 2K 9:16"],
    ["B quality", familyBQuality, "1920x1080", undefined, "1376x768 1K 16:9"],
    ["B quality", familyBQuality, "2000x2000", undefined, "2048x2048 2K 1:1"],
    ["B lite", familyBLite, "4K", undefined, "1024x1024 1K 1:1"],
    ["B lite", familyBLite, "4096x2304", undefined, "1376x768 1K 16:9"],
    ["C", familyC, "4K", "21:9", "3136x1344 2K 21:9"],
    ["C", familyC, "4096x4096", undefined, "2150x2150 2K 1:1"],
    ["C", familyC, "512x512", undefined, "960x960 1K 1:1"],
    ["C", familyC, "1500x1000", undefined, "1500x1000 1K 3:2"],
    ["D", familyD, "4K", "19.5:9", "3008x1408 2K 19.5:9"],
    ["D", familyD, "1400x1400", undefined, "1024x1024 1K 1:1"],
    ["D", familyD, "auto", undefined, "1024x1024 1K 1:1"],
    ["a table with gaps", bare, "1K", "16:9", "2731x1536 2K 16:9"],
  ] as const)("%s: %p%p -> %p", (...[, model, size, ratio, expected]) => {
    const resolved = resolveSize(readSize(size, ratio), model);
    expect(`${resolved.width}x${resolved.height} ${resolved.tier} ${resolved.ratio}`).toBe(expected);
  });

  test.each(entries)(
    "%s: an unset size resolves to the model's defaults and is marked `isAuto`",
    (_, model) => {
      const resolved = resolveSize({ kind: "unset" }, model);
      expect(resolved).toMatchObject({ tier: model.tiers[0], ratio: model.ratios[0], isAuto: true });
      expect(resolveSize(readSize("1K"), model).isAuto).toBe(false);
    },
  );

  test.each(entries)("%s: every resolved size is legal", (_, model) => {
    fc.assert(
      fc.property(anyRequestedSize, (requested) => {
        const resolved = resolveSize(requested, model);
        expect(model.tiers).toContain(resolved.tier);
        expect(model.ratios).toContain(resolved.ratio);
        const listed = model.sizes[resolved.tier]?.[resolved.ratio];
        if (model.bounds) expect(isLegalSize(resolved, model.bounds)).toBe(true);
        else if (listed) expect(`${resolved.width}x${resolved.height}`).toBe(listed);
        else expect(Number.isInteger(resolved.width) && Number.isInteger(resolved.height)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test.each(entries)("%s: a resolved size that is requested again is unchanged", (_, model) => {
    fc.assert(
      fc.property(anyRequestedSize, (requested) => {
        const { width, height } = resolveSize(requested, model);
        expect(resolveSize({ kind: "exact", width, height }, model)).toMatchObject({ width, height });
      }),
    );
  });

  test.each(entries)("%s: a listed tier and ratio resolve to themselves", (_, model) => {
    for (const tier of model.tiers)
      for (const ratio of model.ratios)
        expect(resolveSize({ kind: "tier", tier, ratio }, model)).toMatchObject({ tier, ratio });
  });

  test.each(entries)("%s: no listed ratio is nearer to the requested one than the resolved", (_, model) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }), (width, height) => {
        const resolved = resolveSize({ kind: "tier", tier: null, ratio: `${width}:${height}` }, model);
        const distance = (ratio: string) => Math.abs(Math.log(width / height / ratioValue(ratio)!));
        const least = Math.min(...model.ratios.map(distance));
        expect(distance(resolved.ratio)).toBeCloseTo(least, 9);
      }),
    );
  });

  test.each([
    ["A", familyA],
    ["C", familyC],
  ])("%s: the ratio differs from the requested one by at most one grid step", (_, model) => {
    const bounds = model.bounds!;
    const edge = fc.integer({ min: 16, max: 12_000 });
    fc.assert(
      fc.property(edge, edge, (width, height) => {
        const requested = Math.min(Math.max(width / height, 1 / bounds.maxRatio), bounds.maxRatio);
        const resolved = resolveSize({ kind: "exact", width, height }, model);
        const step = bounds.multiple / Math.min(resolved.width, resolved.height);
        expect(Math.abs(Math.log(resolved.width / resolved.height / requested))).toBeLessThan(step + 1e-9);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("price tier", () => {
  test.each([
    ["1536x1024", "1K"],
    ["1280x1280", "1K"],
    ["1296x1280", "2K"],
    ["2560x1440", "2K"],
    ["2048x2304", "2K"],
    ["2064x2304", "4K"],
    ["3840x2160", "4K"],
    ["20000x20000", "4K"],
  ] as const)("exact %p is priced as %p by its area", (size, tier) => {
    const requested = readSize(size);
    expect(priceTier(resolveSize(requested, familyA), requested)).toBe(tier);
  });

  test("a tier request is priced as the tier sent", () => {
    const requested = readSize("4K");
    expect(priceTier(resolveSize(requested, familyBLite), requested)).toBe("1K");
    expect(priceTier(resolveSize(requested, familyA), requested)).toBe("4K");
  });
});

describe("the tier of a delivered picture", () => {
  const twoK = { width: 2048, height: 2048 };
  test.each([
    ["as resolved", 2048, 2048, "2K"],
    ["rounded by the vendor", 2000, 2000, "2K"],
    ["larger than resolved", 4096, 4096, "2K"],
    ["clearly smaller", 1024, 1024, "1K"],
    ["smaller, but of the same tier", 1536, 1536, "2K"],
  ] as const)("%s: %dx%d is %s", (_, width, height, tier) => {
    expect(deliveredTier("2K", twoK, { width, height })).toBe(tier);
  });

  test("is the resolved one where a model's smallest tier has an area of the next", () => {
    const size = { width: 1328, height: 1328 };
    expect(deliveredTier("1K", size, size)).toBe("1K");
  });
});
