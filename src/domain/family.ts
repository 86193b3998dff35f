/** The four families of image models. `FAMILIES` has the features of each family. */
export type Family = "A" | "B" | "C" | "D";

interface FamilyRules {
  /** Maximum number of reference images in one request. */
  references: number;
  /** True when the family uses an inpainting mask; other families ignore the mask. */
  mask: boolean;
  /** True when the family uses `quality` and `background`; other families ignore both. */
  quality: boolean;
  /** True when models of the family can also be called in the native generate protocol. */
  native: boolean;
}

export const FAMILIES: Readonly<Record<Family, FamilyRules>> = {
  A: { references: 16, mask: true, quality: true, native: false },
  B: { references: 14, mask: false, quality: false, native: true },
  C: { references: 10, mask: false, quality: false, native: false },
  D: { references: 1, mask: false, quality: false, native: false },
};
