import { z } from "zod";

/*
 * Inputs of the simulated fal's models. The sources are fal's own pages (fal.ai/models/…/llms.txt) or, for unreadable
 * pages, the schemas in keremk/renku, catalog/models/fal-ai (2026-05-05).
 */

interface Size {
  width: number;
  height: number;
}
const edge = z.int().min(256).max(4096);
const anySize = z.strictObject({ width: edge, height: edge });
const sized = (isLegal: (size: Size) => boolean) =>
  z.strictObject({ width: z.int().min(1), height: z.int().min(1) }).refine(isLegal);
const area = ({ width, height }: Size) => width * height;
const count = (max: number) => z.int().min(1).max(max).default(1);
const links = (max: number) => z.array(z.string()).min(1).max(max);

const kontextRatio = z.enum(["21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21"]);
const bananaRatios = ["21:9", "16:9", "3:2", "4:3", "5:4", "1:1", "4:5", "3:4", "2:3", "9:16"] as const;

const common = { prompt: z.string().min(1), seed: z.int().optional(), sync_mode: z.boolean().optional() };
const flux = {
  ...common,
  safety_tolerance: z.string().optional(),
  output_format: z.enum(["jpeg", "png"]).default("jpeg"),
};
const anyFormat = { output_format: z.enum(["jpeg", "png", "webp"]).default("png") };

const kontext = { ...flux, aspect_ratio: kontextRatio.default("1:1"), num_images: count(4) };
const kontextEdit = { ...kontext, aspect_ratio: kontextRatio.optional(), image_url: z.string() };
const flux2 = { ...flux, image_size: anySize.default({ width: 1024, height: 768 }) };
const flux2Edit = { ...flux, image_size: anySize.optional(), image_urls: links(8) };

const gptSize = sized(
  (size) =>
    size.width % 16 === 0 &&
    size.height % 16 === 0 &&
    Math.max(size.width, size.height) <= Math.min(3840, 3 * Math.min(size.width, size.height)) &&
    area(size) >= 655_360 &&
    area(size) <= 8_294_400,
);
const gpt = {
  ...common,
  ...anyFormat,
  image_size: gptSize.default({ width: 1024, height: 768 }),
  quality: z.enum(["low", "medium", "high"]).default("high"),
  num_images: count(4),
};
const banana = {
  ...common,
  ...anyFormat,
  aspect_ratio: z.enum(bananaRatios).default("1:1"),
  resolution: z.enum(["1K", "2K", "4K"]).default("1K"),
  num_images: count(4),
};
const seedream = (least: number) => ({
  ...common,
  image_size: sized((size) => area(size) >= least && area(size) <= 4096 ** 2).optional(),
  num_images: count(6),
  enable_safety_checker: z.boolean().optional(),
});
const qwen = {
  ...common,
  ...anyFormat,
  image_size: sized((size) => area(size) >= 512 ** 2 && area(size) <= 2048 ** 2).optional(),
  num_images: count(4),
};

export interface FalInputs {
  image_size?: Size;
  aspect_ratio?: string;
  resolution?: "1K" | "2K" | "4K";
  num_images?: number;
  output_format?: "jpeg" | "png" | "webp";
  image_url?: string;
  image_urls?: string[];
}

/** Inputs by the model's path. */
export const MODELS: Readonly<Record<string, z.ZodType>> = {
  "fal-ai/flux-pro/kontext/text-to-image": z.strictObject(kontext),
  "fal-ai/flux-pro/kontext": z.strictObject(kontextEdit),
  "fal-ai/flux-pro/kontext/max/text-to-image": z.strictObject(kontext),
  "fal-ai/flux-pro/kontext/max": z.strictObject(kontextEdit),
  "fal-ai/flux-2-pro": z.strictObject(flux2),
  "fal-ai/flux-2-pro/edit": z.strictObject(flux2Edit),
  "fal-ai/flux-2-max": z.strictObject(flux2),
  "fal-ai/flux-2-max/edit": z.strictObject(flux2Edit),
  "fal-ai/flux-2-flex": z.strictObject(flux2),
  "fal-ai/flux-2-flex/edit": z.strictObject(flux2Edit),
  "openai/gpt-image-2": z.strictObject(gpt),
  "openai/gpt-image-2/edit": z.strictObject({
    ...gpt,
    image_size: gptSize.optional(),
    image_urls: links(16),
  }),
  "fal-ai/nano-banana-pro": z.strictObject(banana),
  "fal-ai/nano-banana-pro/edit": z.strictObject({
    ...banana,
    aspect_ratio: z.enum(["auto", ...bananaRatios]).optional(),
    image_urls: links(14),
  }),
  "fal-ai/bytedance/seedream/v4/text-to-image": z.strictObject(seedream(960 ** 2)),
  "fal-ai/bytedance/seedream/v4/edit": z.strictObject({ ...seedream(960 ** 2), image_urls: links(10) }),
  "fal-ai/bytedance/seedream/v4.5/text-to-image": z.strictObject(seedream(2560 * 1440)),
  "fal-ai/bytedance/seedream/v4.5/edit": z.strictObject({ ...seedream(2560 * 1440), image_urls: links(10) }),
  "fal-ai/qwen-image-2/text-to-image": z.strictObject(qwen),
  "fal-ai/qwen-image-2/edit": z.strictObject({ ...qwen, image_urls: links(3) }),
  "fal-ai/qwen-image-2/pro/text-to-image": z.strictObject(qwen),
  "fal-ai/qwen-image-2/pro/edit": z.strictObject({ ...qwen, image_urls: links(3) }),
};
