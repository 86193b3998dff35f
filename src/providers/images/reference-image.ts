import type { ReferenceImage } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { UnreadableImageError } from "../../imaging/header-reader.ts";
import { readImageHeader } from "../../imaging/sniff.ts";
import { transcode } from "../../imaging/transcode.ts";
import type { Semaphore } from "../../lib/semaphore.ts";

/**
 * Converts reference images for a vendor. Encodes an image again if the vendor does not read its format. Compresses an
 * image that is too large, which loses some detail. Throws `rejected` with the number of an image that cannot be
 * converted.
 */
export async function fitReferences(
  references: readonly ReferenceImage[],
  rules: ReferenceRules,
  slots: Semaphore,
  signal: AbortSignal,
): Promise<ReferenceImage[]> {
  const fitting: ReferenceImage[] = [];
  for (const [index, reference] of references.entries()) {
    try {
      const readable = await makeReadable(reference, rules, slots, signal);
      fitting.push(await makeSmall(readable, rules, slots, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UnreadableImageError) throw rejected(index, UNREADABLE, error);
      if (error instanceof TooLargeError) throw rejected(index, TOO_LARGE, error);
      throw error;
    }
  }
  return fitting;
}

/** The rules for references that a vendor accepts. */
export interface ReferenceRules {
  formats: readonly ReferenceImage["format"][];
  /** Maximum bytes of one image, before base64. */
  maxBytes: number;
}

const UNREADABLE = "is in a format that this model does not read; send it as PNG or JPEG.";
const TOO_LARGE = "is too large for this model; send a smaller one.";

/** Formats that this program can encode, lossless formats first. */
const WRITABLE: readonly ImageFormat[] = ["png", "jpeg", "webp"];
/**
 * Compression qualities in the order in which they are tried. The loss at the first quality is not visible. A lower
 * quality is used only when the image is still too large.
 */
const COMPRESSIONS = [92, 80, 60];

class TooLargeError extends Error {
  override readonly name = "TooLargeError";
}

async function makeReadable(
  reference: ReferenceImage,
  { formats }: ReferenceRules,
  slots: Semaphore,
  signal: AbortSignal,
): Promise<ReferenceImage> {
  if (formats.includes(reference.format)) return reference;
  const format = WRITABLE.find((format) => formats.includes(format)) ?? "png";
  return { ...reference, format, blob: await transcode(reference.blob, format, { slots, signal }) };
}

async function makeSmall(
  reference: ReferenceImage,
  { formats, maxBytes }: ReferenceRules,
  slots: Semaphore,
  signal: AbortSignal,
): Promise<ReferenceImage> {
  if (reference.blob.size <= maxBytes) return reference;
  const { hasAlpha } = await readImageHeader(reference.blob);
  const format = hasAlpha && formats.includes("webp") ? "webp" : "jpeg";
  for (const compression of COMPRESSIONS) {
    const blob = await transcode(reference.blob, format, { compression, slots, signal });
    if (blob.size <= maxBytes) return { ...reference, format, blob };
  }
  throw new TooLargeError(`more than ${maxBytes} bytes`);
}

function rejected(index: number, what: string, cause: Error): UpstreamError {
  return new UpstreamError("rejected", `reference ${index + 1}: ${cause.message}`, {
    publicMessage: `Image ${index + 1} ${what}`,
    param: "image",
    isUnsent: true,
    cause,
  });
}
