import type { ImageOrder, ImageReply } from "../../domain/image.ts";
import type { ImageUpstream } from "../../gateway/ports.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { fanOut } from "./fan-out.ts";
import { fitReferences, type ReferenceRules } from "./reference-image.ts";
import { refuseMask } from "./wanted-image.ts";

/**
 * A way to a vendor that has no masks: references are made fit for it first, and several images are made by as many
 * calls where the drawing says so. Throws as `draw` does, and `rejected` for a mask or a reference that cannot be
 * made fit.
 */
export function createImageUpstream({ rules, fansOut, generate }: ImageUpstreamOptions): ImageUpstream {
  const slots = createSemaphore(CODEC_SLOTS);
  return {
    async generate(order, signal) {
      refuseMask(order);
      const references = await fitReferences(order.references, rules, slots, signal);
      const ready = { ...order, references };
      if (!fansOut?.(order)) return await generate(ready, signal);
      const single = { ...ready, count: 1 };
      return await fanOut(order.count, (signal) => generate(single, signal), signal);
    },
  };
}

/** How one vendor makes pictures. */
export interface ImageUpstreamOptions {
  rules: ReferenceRules;
  /** Left out where a call always gives as many as are asked for. */
  fansOut?(order: ImageOrder): boolean;
  /** One call to the vendor. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
}

/** References of one channel that are encoded anew at once. */
const CODEC_SLOTS = 2;

/** Whether the model gives one image a call. */
export function isSingle({ model }: ImageOrder): boolean {
  return model.image.maxImagesPerCall === 1;
}
