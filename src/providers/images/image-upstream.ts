import type { ImageOrder, ImageReply } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { ImageUpstream } from "../../gateway/upstreams.ts";
import type { FairSemaphore } from "../../lib/semaphore.ts";
import { fanOut } from "./fan-out.ts";
import { fitReferences, type ReferenceRules } from "./reference-image.ts";

/**
 * Makes an `ImageUpstream` from a function that makes one vendor call. Converts references that the vendor does not
 * accept. Then makes one call, or several parallel calls if `fansOut` returns true. Throws as `generate` does. Throws
 * `rejected` for a mask that the vendor does not accept or a reference that cannot be converted.
 */
export function createImageUpstream(options: ImageUpstreamOptions): ImageUpstream {
  const { codecSlots, rules, takesMasks = false, fansOut, generate } = options;
  return {
    async generate(order, signal) {
      if (!takesMasks) refuseMask(order);
      const orderRules = typeof rules === "function" ? rules(order) : rules;
      const slots = codecSlots.of(order.organization);
      const references = await fitReferences(order.references, orderRules, slots, signal);
      const ready = { ...order, references };
      if (!fansOut?.(order)) return await generate(ready, signal);
      const single = (call: number): ImageOrder => {
        const { vendorJobs } = order;
        return { ...ready, count: 1, ...(vendorJobs && { vendorJobs: () => vendorJobs(call) }) };
      };
      return await fanOut(order.count, (signal, call) => generate(single(call), signal), signal);
    },
  };
}

interface ImageUpstreamOptions {
  /** Limits the number of pictures that the process decodes and encodes at the same time. */
  codecSlots: FairSemaphore;
  /** Rules for the references that the vendor accepts; a function if they depend on the order. */
  rules: ReferenceRules | ((order: ImageOrder) => ReferenceRules);
  takesMasks?: boolean;
  /** True when each image needs its own call. Absent when one call makes all images of the order. */
  fansOut?(order: ImageOrder): boolean;
  /** Makes one call to the vendor. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
}

/** Refuses a mask. Without the mask, the vendor would edit the whole picture, which the caller did not order. */
function refuseMask({ mask }: ImageOrder): void {
  if (!mask) return;
  throw new UpstreamError("rejected", "the vendor takes no masks", {
    publicMessage: "This model does not take a mask.",
    param: "mask",
    isUnsent: true,
  });
}

/** True when the model makes one image per call. */
export function makesOneImage({ model }: ImageOrder): boolean {
  return model.image.maxImagesPerCall === 1;
}
