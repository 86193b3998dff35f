/** Pixels by ratio and tier (the vendor's image guide). 21:9 exists only in landscape. */
const SIZES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "1:1": { "512": "512x512", "1K": "1024x1024", "2K": "2048x2048", "4K": "4096x4096" },
  "1:4": { "512": "256x1024", "1K": "512x2048", "2K": "1024x4096", "4K": "2048x8192" },
  "1:8": { "512": "192x1536", "1K": "384x3072", "2K": "768x6144", "4K": "1536x12288" },
  "2:3": { "512": "424x632", "1K": "848x1264", "2K": "1696x2528", "4K": "3392x5056" },
  "3:4": { "512": "448x600", "1K": "896x1200", "2K": "1792x2400", "4K": "3584x4800" },
  "4:5": { "512": "464x576", "1K": "928x1152", "2K": "1856x2304", "4K": "3712x4608" },
  "9:16": { "512": "384x688", "1K": "768x1376", "2K": "1536x2752", "4K": "3072x5504" },
  "21:9": { "512": "792x336", "1K": "1584x672", "2K": "3168x1344", "4K": "6336x2688" },
};

const TALL = Object.keys(SIZES).filter((ratio) => ratio !== "1:1" && ratio !== "21:9");
const ALL_RATIOS = [...Object.keys(SIZES), ...TALL.map(turned)];

export interface SimulatedModel {
  ratios: readonly string[];
  /** Output tokens of a picture by tier. */
  tokens: Readonly<Record<string, number>>;
  /** Input tokens of a reference. */
  inputTokens: number;
  /** True when the model's thoughts contain drafts of pictures. */
  isThinking: boolean;
}

export const MODELS: Readonly<Record<string, SimulatedModel>> = {
  "gemini-nano-banana-2.1": {
    ratios: ALL_RATIOS,
    tokens: { "1K": 1120 },
    inputTokens: 560,
    isThinking: false,
  },
  "gemini-3.1-flash-image": {
    ratios: ALL_RATIOS,
    tokens: { "512": 747, "1K": 1120, "2K": 1680, "4K": 2520 },
    inputTokens: 560,
    isThinking: false,
  },
  "gemini-3-pro-image": {
    ratios: ALL_RATIOS.filter((ratio) => !/[48]:1$|^1:[48]$/.test(ratio)),
    tokens: { "1K": 1120, "2K": 1120, "4K": 2000 },
    inputTokens: 1120,
    isThinking: true,
  },
  "gemini-3.1-flash-lite-image": {
    ratios: ALL_RATIOS,
    tokens: { "1K": 1120 },
    inputTokens: 560,
    isThinking: false,
  },
};

/** Returns width and height for a valid tier and ratio. */
export function pixelsOf(ratio: string, tier: string): [width: number, height: number] {
  const isTurned = SIZES[ratio] === undefined;
  const listed = SIZES[isTurned ? turned(ratio) : ratio]?.[tier] ?? "";
  const [width = 0, height = 0] = listed.split("x").map(Number);
  return isTurned ? [height, width] : [width, height];
}

function turned(ratio: string): string {
  return ratio.split(":").toReversed().join(":");
}
