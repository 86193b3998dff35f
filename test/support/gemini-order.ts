import type { ImageOrder, ReferenceImage } from "../../src/domain/image.ts";
import type { ImageModel } from "../../src/domain/model.ts";
import type { UpstreamError } from "../../src/domain/upstream-error.ts";
import { makePng } from "./pictures.ts";
import { testSpool } from "./spool.ts";

const MODEL: ImageModel = {
  id: "gemini-3.1-flash-image",
  displayName: "Gemini",
  ownedBy: "google",
  created: 0,
  isRetired: false,
  type: "image",
  family: "B",
  image: {
    sizeMode: "table",
    tiers: ["1K", "2K", "4K"],
    ratios: ["1:1", "16:9"],
    sizes: {},
    qualities: [],
    formats: ["png"],
    backgrounds: [],
    maxImagesPerCall: 1,
  },
};

/** Returns an order for one picture of family B, with the given fields changed. */
export function makeOrder(change: Partial<ImageOrder> = {}): ImageOrder {
  return {
    upstreamModel: MODEL.id,
    model: MODEL,
    prompt: "a red fox",
    size: { tier: "1K", ratio: "16:9", width: 1376, height: 768, isAuto: false, isShapeFree: false },
    count: 1,
    references: [],
    organization: "org_1",
    spool: testSpool,
    ...change,
  };
}

export function makeReference(width = 8, height = 8): ReferenceImage {
  return { blob: new Blob([makePng(width, height)]), format: "png", width, height };
}

/** Returns the error of a failed call. */
export async function failureOf(generated: Promise<unknown>): Promise<UpstreamError> {
  return await generated.then(
    () => Promise.reject(new Error("it succeeded")),
    (error: UpstreamError) => error,
  );
}
