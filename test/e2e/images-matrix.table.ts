export const SIZES = {
  unset: {},
  legal: { size: "1024x1024" },
  "not on the grid": { size: "1000x700" },
  "too small": { size: "512x512" },
  "too large": { size: "4096x4096" },
  "1K 16:9": { size: "1K", aspectRatio: "16:9" },
  "2k 3:4": { size: "2k", aspect_ratio: "3:4" },
  "1.5K": { size: "1.5K" },
  "4K": { size: "4K" },
  "ratio alone": { aspectRatio: "9:16" },
  "both ratios": { size: "1K", aspectRatio: "1:1", aspect_ratio: "21:9" },
  "exact and ratio": { size: "1024x1024", aspectRatio: "16:9" },
  "no size": { size: "auto", aspectRatio: "0:0" },
  nonsense: { size: "0x0", aspectRatio: "16/9" },
} as const;
export type SizeName = keyof typeof SIZES;

/** Expected sizes of models whose pictures have at most one or four megapixels. */
const SQUARE_1K = {
  unset: "1024x1024",
  legal: "1024x1024",
  "too small": "1024x1024",
  "too large": "1024x1024",
  "1.5K": "1024x1024",
  "4K": "1024x1024",
  "both ratios": "1024x1024",
};
const SQUARE_2K = { ...SQUARE_1K, "too large": "2048x2048", "1.5K": "2048x2048", "4K": "2048x2048" };

/** Expected sizes of generations, from the tables in the vendors' image documentation. */
export const EXPECTED: Record<string, Partial<Record<SizeName, string>>> = {
  A: {
    unset: "1024x1024",
    legal: "1024x1024",
    "not on the grid": "1008x704",
    "too small": "816x816",
    "too large": "2880x2880",
    "1K 16:9": "1280x720",
    "2k 3:4": "1776x2368",
    "1.5K": "2048x2048",
    "4K": "2880x2880",
    "ratio alone": "720x1280",
    "both ratios": "1024x1024",
    "exact and ratio": "1024x1024",
    "no size": "1024x1024",
    nonsense: "1024x1024",
  },
  B: {
    unset: "1024x1024",
    legal: "1024x1024",
    "not on the grid": "1264x848",
    "too small": "1024x1024",
    "1K 16:9": "1376x768",
    "2k 3:4": "1792x2400",
    "1.5K": "2048x2048",
    "ratio alone": "768x1376",
    "both ratios": "1024x1024",
    "exact and ratio": "1024x1024",
    nonsense: "1024x1024",
  },
  lite: { "too large": "1024x1024", "2k 3:4": "896x1200", "4K": "1024x1024" },
  C: {
    unset: "1024x1024",
    legal: "1024x1024",
    "too small": "960x960",
    "too large": "2150x2150",
    "1K 16:9": "1424x800",
    "2k 3:4": "1776x2368",
    "1.5K": "2048x2048",
    "4K": "2048x2048",
    "ratio alone": "800x1424",
    "both ratios": "1024x1024",
  },
  D: {
    unset: "1024x1024",
    legal: "1024x1024",
    "too small": "1024x1024",
    "too large": "2048x2048",
    "1K 16:9": "1360x768",
    "2k 3:4": "1776x2368",
    "4K": "2048x2048",
    "both ratios": "1024x1024",
  },
  "FLUX.1": { ...SQUARE_1K, "1K 16:9": "1376x768", "2k 3:4": "896x1184", "ratio alone": "768x1376" },
  "FLUX.1 resold": { ...SQUARE_1K, "1K 16:9": "1360x768", "2k 3:4": "880x1184", "ratio alone": "768x1360" },
  "FLUX.2": {
    ...SQUARE_2K,
    "not on the grid": "1008x704",
    "too small": "512x512",
    "1K 16:9": "1360x768",
    "2k 3:4": "1728x2304",
    "ratio alone": "768x1360",
  },
  "FLUX.2 by ratio": {
    ...SQUARE_2K,
    "too small": "1024x1024",
    "1K 16:9": "1360x768",
    "2k 3:4": "1760x2368",
    "ratio alone": "768x1360",
  },
  Qwen: {
    ...SQUARE_2K,
    "not on the grid": "1008x704",
    "too small": "512x512",
    "1K 16:9": "1280x720",
    "2k 3:4": "1728x2304",
    "ratio alone": "720x1280",
  },
  "Qwen edits": {
    ...SQUARE_2K,
    "too small": "1024x1024",
    "1K 16:9": "1280x720",
    "2k 3:4": "1536x2048",
    "ratio alone": "720x1280",
  },
};

/** `most` is the maximum of images in one vendor call. Every model follows the rules of its family. */
const MAIN = [
  { family: "A", model: "gpt-image-2", most: 4 },
  { family: "A", model: "gpt-image-2.5-flare", most: 4 },
  { family: "B", model: "gemini-3.1-flash-image", most: 1 },
  { family: "lite", model: "gemini-3.1-flash-lite-image", most: 1 },
  { family: "C", model: "seedream-5-0-pro", most: 4 },
  { family: "D", model: "grok-imagine-image", most: 4 },
] as const;
/** Vendors of family D models whose rules differ from the family's rules. */
export const ALTERNATIVES = [
  { vendor: "bfl", family: "FLUX.1", id: "flux-kontext-max", most: 1 },
  { vendor: "bfl", family: "FLUX.2", id: "flux-2-pro", most: 1 },
  { vendor: "fal", family: "FLUX.1 resold", id: "flux-kontext-pro", most: 4 },
  { vendor: "fal", family: "FLUX.2", id: "flux-2-max", most: 1 },
  { vendor: "replicate", family: "FLUX.1 resold", id: "flux-kontext-max", most: 1 },
  { vendor: "replicate", family: "FLUX.2 by ratio", id: "flux-2-pro", most: 1 },
  { vendor: "openrouter", family: "FLUX.2 by ratio", id: "flux-2-max", most: 1 },
  { vendor: "dashscope", family: "Qwen", id: "qwen-image-2.0", most: 4 },
  { vendor: "dashscope", family: "Qwen edits", id: "qwen-image-edit-plus", most: 4 },
] as const;
export const MODELS: Offer[] = [
  ...MAIN,
  ...ALTERNATIVES.map(({ vendor, family, id, most }) => ({ family, model: `${vendor}-${id}`, most })),
];
export const SANDBOX = [
  { family: "A", model: "sandbox-a", most: 4 },
  { family: "B", model: "sandbox-b-fast", most: 4 },
  { family: "C", model: "sandbox-c", most: 4 },
  { family: "D", model: "sandbox-d-quality", most: 4 },
] as const;

/** A model of a family. `most` is the maximum of images in one vendor call. */
export interface Offer {
  family: string;
  model: string;
  most: number;
}
