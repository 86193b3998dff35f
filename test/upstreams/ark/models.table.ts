/** The inputs that a model accepts (Ark image generation reference). */
export interface ArkModel {
  minPixels: number;
  maxPixels: number;
  tiers: Readonly<Record<string, string>>;
  references: number;
  /** True when `output_format` is allowed. Other models make JPEG pictures. */
  hasFormat: boolean;
  /** True when groups and streams are supported. */
  hasGroups: boolean;
}

const PRO: ArkModel = {
  minPixels: 921_600,
  maxPixels: 4_624_220,
  tiers: { "1K": "1024x1024", "1.5K": "1536x1536", "2K": "2048x2048" },
  references: 10,
  hasFormat: true,
  hasGroups: false,
};
const LARGE = {
  minPixels: 3_686_400,
  maxPixels: 16_777_216,
  tiers: { "2K": "2048x2048", "3K": "3072x3072", "4K": "4096x4096" },
  references: 14,
  hasGroups: true,
};
const LITE: ArkModel = { ...LARGE, hasFormat: true };
const FOUR_FIVE: ArkModel = { ...LARGE, hasFormat: false };
const FOUR: ArkModel = {
  ...FOUR_FIVE,
  minPixels: 921_600,
  tiers: { "1K": "1024x1024", "2K": "2048x2048", "4K": "4096x4096" },
};

/** Models by region. A region's key cannot call models of the other region. */
export const MODELS: Readonly<Record<"cn" | "global", Readonly<Record<string, ArkModel>>>> = {
  cn: {
    "doubao-seedream-5-0-pro-260628": PRO,
    "doubao-seedream-5-0-lite-260128": LITE,
    "doubao-seedream-4-5-251128": FOUR_FIVE,
    "doubao-seedream-4-0-250828": FOUR,
  },
  global: {
    "dola-seedream-5-0-pro-260628": PRO,
    "seedream-5-0-lite-260128": LITE,
    "seedream-4-5-251128": FOUR_FIVE,
    "seedream-4-0-250828": FOUR,
  },
};
