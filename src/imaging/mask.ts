import { GatewayError } from "../domain/gateway-error.ts";
import type { ReferenceImage } from "../domain/image.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { checkReference, readReference } from "./reference.ts";

const NAME = "The mask";

/** Returns a mask that `checkMask` accepts, after decoding it to its end. */
export async function readMask(
  mask: Blob,
  first: { width: number; height: number },
  options: { slots: Semaphore; signal?: AbortSignal },
): Promise<ReferenceImage> {
  await checkMask(mask, first);
  return await readReference(mask, { param: "mask", name: NAME, ...options });
}

/**
 * Checks an inpainting mask against image 1, without decoding it: a PNG of the same pixel size, whose transparency
 * marks the area to edit. Throws `invalid_image` with `param` "mask".
 */
export async function checkMask(mask: Blob, first: { width: number; height: number }): Promise<void> {
  const { format, width, height, hasAlpha } = await checkReference(mask, { param: "mask", name: NAME });
  const problem =
    format !== "png"
      ? `must be a PNG with an alpha channel; this is a ${format.toUpperCase()}`
      : !hasAlpha
        ? "must have an alpha channel: make the area to edit fully transparent"
        : width !== first.width || height !== first.height
          ? `must have the size of image 1, ${first.width}x${first.height} pixels; it is ${width}x${height}`
          : null;
  if (problem) throw new GatewayError("invalid_image", `${NAME} ${problem}.`, { param: "mask" });
}
