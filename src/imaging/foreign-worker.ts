import {
  ColorProfile,
  ColorSpace,
  ImageMagick,
  initializeImageMagick,
  MagickFormat,
  MagickReadSettings,
  ResourceLimits,
  type IMagickImage,
} from "@imagemagick/magick-wasm";
import type { ForeignFormat, ForeignRequest } from "./foreign.ts";
import type { PictureReply } from "./picture-thread.ts";
import { DISPLAY_P3_PROFILE, SRGB_PROFILE } from "./profiles.ts";

/* This thread decodes one picture and then ends, because the memory of the decoder never shrinks. */

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<ForeignRequest>) => {
  const reply: PictureReply = await decode(data).catch((error: unknown) => ({ problem: String(error) }));
  postMessage(reply, "png" in reply ? [reply.png.buffer] : []);
};

/** The decoder for each format. Other decoders never run, even if the bytes have another format. */
const DECODERS: Readonly<Record<ForeignFormat, MagickFormat>> = {
  heic: MagickFormat.Heic,
  avif: MagickFormat.Avif,
  tiff: MagickFormat.Tiff,
  bmp: MagickFormat.Bmp,
  jpeg: MagickFormat.Jpeg,
};

const MAX_MEMORY_BYTES = 2n ** 30n;

async function decode(request: ForeignRequest): Promise<PictureReply> {
  const { decoder, bytes, format, isDisplayP3, maxEdge, maxPixels } = request;
  await initializeImageMagick(decoder);
  ResourceLimits.width = BigInt(maxEdge);
  ResourceLimits.height = BigInt(maxEdge);
  ResourceLimits.area = BigInt(maxPixels);
  ResourceLimits.memory = MAX_MEMORY_BYTES;
  ResourceLimits.disk = 0n;
  const settings = new MagickReadSettings({ format: DECODERS[format], frameIndex: 0, frameCount: 1 });
  return ImageMagick.read(bytes, settings, (image) => {
    if (isNegative(image)) image.negate();
    makeRgb(image);
    if (isDisplayP3 && image.getColorProfile() === null) image.setProfile("icc", DISPLAY_P3_PROFILE);
    dropMetadata(image);
    return { png: writePng(image) };
  });
}

/** True for a grey TIFF with a depth of 2 or 4 bits in which 0 means white. The decoder always reads 0 as black. */
function isNegative(image: IMagickImage): boolean {
  const isShallow = image.depth === 2 || image.depth === 4;
  return isShallow && image.getAttribute("tiff:photometric") === "min-is-white";
}

/** Converts a picture to RGB. A CMYK picture with a colour profile is converted by its profile. RGB stays unchanged. */
function makeRgb(image: IMagickImage): void {
  if (image.colorSpace !== ColorSpace.sRGB) {
    const isManaged = image.colorSpace === ColorSpace.CMYK && image.getColorProfile() !== null;
    if (!isManaged || !image.transformColorSpace(new ColorProfile(SRGB_PROFILE)))
      image.colorSpace = ColorSpace.sRGB;
    image.removeProfile("icc");
  }
}

/**
 * Removes Exif, text and similar data, which may be very large when decompressed. Keeps the colour profile, which
 * defines the colours of the pixels.
 */
function dropMetadata(image: IMagickImage): void {
  for (const name of image.profileNames) if (name !== "icc") image.removeProfile(name);
  for (const name of image.attributeNames) image.removeAttribute(name);
}

/**
 * Writes a PNG without compression and filters, because the picture is encoded again later. `zTXt` is not
 * excluded, because excluding it would also omit the colour profile.
 */
function writePng(image: IMagickImage): Uint8Array<ArrayBuffer> {
  const { settings } = image;
  settings.setDefine(MagickFormat.Png, "compression-level", "0");
  settings.setDefine(MagickFormat.Png, "compression-filter", "0");
  settings.setDefine(MagickFormat.Png, "exclude-chunk", "date,eXIf,tEXt,iTXt");
  return image.write(MagickFormat.Png, (bytes) => new Uint8Array(bytes));
}
