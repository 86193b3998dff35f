import { GatewayError } from "../domain/gateway-error.ts";
import type { ReferenceImage } from "../domain/image.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { readReference } from "./reference.ts";
import { sniffImage } from "./sniff.ts";

/**
 * Checks an inpainting mask against image 1: a PNG of the same pixel size, whose transparency marks the area to
 * edit. Throws `invalid_image` with `param` "mask".
 */
export async function readMask(
  mask: Blob,
  first: { width: number; height: number },
  options: { slots: Semaphore; signal?: AbortSignal },
): Promise<ReferenceImage> {
  const name = "The mask";
  const { format, width, height, hasAlpha } = await sniffImage(mask, "mask", name);
  const problem =
    format !== "png"
      ? `must be a PNG with an alpha channel; this is a ${format.toUpperCase()}`
      : !hasAlpha
        ? "must have an alpha channel: make the area to edit fully transparent"
        : width !== first.width || height !== first.height
          ? `must have the size of image 1, ${first.width}x${first.height} pixels; it is ${width}x${height}`
          : null;
  if (problem) throw new GatewayError("invalid_image", `${name} ${problem}.`, { param: "mask" });
  return await readReference(mask, { param: "mask", name, ...options });
}
