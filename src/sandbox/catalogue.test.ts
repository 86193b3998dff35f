import { FairSemaphore } from "../lib/semaphore.ts";
import { expect, test } from "bun:test";
import { sandbox } from "./index.ts";
import { testSpool } from "../../test/support/spool.ts";
import type { Family } from "../domain/family.ts";
import type { ImageFormat, ImageModel } from "../domain/model.ts";

type Tier = keyof typeof LARGEST_AREA;

interface Listed {
  type: string;
  family: Family;
  image: {
    tiers: Tier[];
    ratios: string[];
    sizes: Record<string, Record<string, string>>;
    bounds?: {
      min_pixels: number;
      max_pixels: number;
      max_edge: number;
      multiple: number;
      max_ratio: number;
    };
    qualities: string[];
    default_quality?: string;
    formats: ImageFormat[];
    backgrounds: string[];
    max_images_per_call: number;
  };
  price: { per_image: Record<string, Record<string, string>> };
}

const text = await Bun.file(new URL("../../catalogue/sandbox.yaml", import.meta.url)).text();
const catalogue = Bun.YAML.parse(text) as { provider: string; models: Record<string, Listed> };
const images = Object.entries(catalogue.models).filter(([, model]) => model.type === "image");
const LARGEST_AREA = { "1K": 1_638_400, "2K": 4_718_592, "4K": Number.POSITIVE_INFINITY };

function sizesOf({ image }: Listed) {
  return image.tiers.flatMap((tier) =>
    image.ratios.map((ratio) => {
      const [width = 0, height = 0] = image.sizes[tier]![ratio]!.split("x").map(Number);
      return { tier, ratio, width, height };
    }),
  );
}

test("the catalogue lists every model of the sandbox", () => {
  expect(catalogue.provider).toBe(sandbox.name);
  expect(Object.keys(catalogue.models)).toEqual([
    "sandbox-a",
    "sandbox-a-flare",
    "sandbox-a-sunburst",
    "sandbox-b-fast",
    "sandbox-b-quality",
    "sandbox-b-lite",
    "sandbox-c",
    "sandbox-d-fast",
    "sandbox-d-quality",
    "sandbox-chat",
    "sandbox-messages",
    "sandbox-embedding",
  ]);
});

test.each(images)(
  "%s has a size and a price in every tier, each of the tier's area and of its ratio",
  (_id, model) => {
    for (const { tier, ratio, width, height } of sizesOf(model)) {
      const [across, down] = ratio.split(":").map(Number);
      expect(Math.abs(width / height / (across! / down!) - 1)).toBeLessThan(0.05);
      expect(width * height).toBeLessThanOrEqual(LARGEST_AREA[tier]);
      if (tier === "2K") expect(width * height).toBeGreaterThan(LARGEST_AREA["1K"]);
      if (tier === "4K") expect(width * height).toBeGreaterThan(LARGEST_AREA["2K"]);
      const row = model.price.per_image[tier];
      const qualities = model.image.qualities.length > 0 ? model.image.qualities : ["*"];
      expect(Object.keys(row!)).toEqual(qualities);
      for (const price of Object.values(row!)) expect(price).toMatch(/^\d+\.\d\d$/);
    }
  },
);

test.each(images.filter(([, model]) => model.image.bounds))(
  "%s lists only sizes within its own bounds",
  (_id, model) => {
    const {
      min_pixels: least,
      max_pixels: most,
      max_edge: edge,
      multiple,
      max_ratio: ratio,
    } = model.image.bounds!;
    for (const { width, height } of sizesOf(model)) {
      expect(width * height).toBeWithin(least, most + 1);
      expect(Math.max(width, height)).toBeLessThanOrEqual(edge);
      expect(Math.max(width, height) / Math.min(width, height)).toBeLessThanOrEqual(ratio);
      expect([width % multiple, height % multiple]).toEqual([0, 0]);
    }
  },
);

test.each(images)(
  "%s is generated at its largest and smallest sizes in its own format",
  async (id, listed) => {
    const model = modelOf(id, listed);
    const { generate } = sandbox.image({}, new FairSemaphore(2));
    const sizes = sizesOf(listed).toSorted(
      (one, other) => one.width * one.height - other.width * other.height,
    );
    for (const { tier, ratio, width, height } of [sizes[0]!, sizes.at(-1)!]) {
      const size = { tier, ratio, width, height, isAuto: false, isShapeFree: false };
      const quality = model.image.qualities[0];
      const order = {
        upstreamModel: id,
        model,
        prompt: id,
        size,
        quality,
        count: 1,
        references: [],
        organization: "org_1",
        spool: testSpool,
      };
      const { images } = await generate(order, new AbortController().signal);
      const [format] = model.image.formats;
      expect(await images[0]!.image().metadata()).toEqual({ width, height, format: format! });
    }
  },
);

function modelOf(id: string, { family, image }: Listed): ImageModel {
  const { tiers, ratios, sizes, qualities, formats, backgrounds } = image;
  const facts = { id, displayName: id, ownedBy: "sandbox", created: 0, isRetired: false };
  const maxImagesPerCall = image.max_images_per_call;
  const capability = { tiers, ratios, sizes, qualities, formats, backgrounds, maxImagesPerCall };
  return { ...facts, type: "image", family, image: { ...capability, sizeMode: "table" } };
}
