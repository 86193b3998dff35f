/** The four image families of the interface, and the features that the interface fixes for each. */
export type Family = "A" | "B" | "C" | "D";

interface FamilyRules {
  /** Maximum reference images in one request. */
  references: number;
  /** True when an inpainting mask is used; other families ignore it. */
  mask: boolean;
  /** True when `quality` and `background` are read; other families ignore them. */
  quality: boolean;
  /** True when the native generate protocol also serves its models. */
  native: boolean;
}

export const FAMILIES: Readonly<Record<Family, FamilyRules>> = {
  A: { references: 16, mask: true, quality: true, native: false },
  B: { references: 14, mask: false, quality: false, native: true },
  C: { references: 10, mask: false, quality: false, native: false },
  D: { references: 1, mask: false, quality: false, native: false },
};
