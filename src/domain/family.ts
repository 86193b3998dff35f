/** The four image families of the interface, and what the interface itself fixes about each. */
export type Family = "A" | "B" | "C" | "D";

interface FamilyRules {
  /** Maximum reference images in one request. */
  references: number;
  /** Whether an inpainting mask is used (elsewhere it is ignored). */
  mask: boolean;
  /** Whether `quality` and `background` are read (elsewhere they are ignored). */
  quality: boolean;
  /** Whether its models are also served on the native generate protocol. */
  native: boolean;
}

export const FAMILIES: Readonly<Record<Family, FamilyRules>> = {
  A: { references: 16, mask: true, quality: true, native: false },
  B: { references: 14, mask: false, quality: false, native: true },
  C: { references: 10, mask: false, quality: false, native: false },
  D: { references: 1, mask: false, quality: false, native: false },
};
