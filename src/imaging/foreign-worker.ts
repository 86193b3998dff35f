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
import type { ForeignFormat, ForeignReply, ForeignRequest } from "./foreign.ts";
import { SRGB_PROFILE } from "./srgb-profile.ts";

/* Decodes one picture, in a thread that ends afterwards, because the decoder's memory only grows. */

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<ForeignRequest>) => {
  const reply: ForeignReply = await decode(data).catch((error: unknown) => ({ problem: String(error) }));
  postMessage(reply, "png" in reply ? [reply.png.buffer] : []);
};

/** The only decoders that run, whatever the bytes resemble. */
const DECODERS: Readonly<Record<ForeignFormat, MagickFormat>> = {
  heic: MagickFormat.Heic,
  avif: MagickFormat.Avif,
  tiff: MagickFormat.Tiff,
  bmp: MagickFormat.Bmp,
  jpeg: MagickFormat.Jpeg,
};

const MAX_MEMORY_BYTES = 2n ** 30n;

async function decode(request: ForeignRequest): Promise<ForeignReply> {
  const { decoder, bytes, format, maxEdge, maxPixels } = request;
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
    dropMetadata(image);
    return { png: writePng(image) };
  });
}

/** The decoder reads grey TIFF of these depths as if 0 were black, whatever the file says. */
function isNegative(image: IMagickImage): boolean {
  const isShallow = image.depth === 2 || image.depth === 4;
  return isShallow && image.getAttribute("tiff:photometric") === "min-is-white";
}

/** Red, green and blue keep their profile; other colours are converted by theirs. */
function makeRgb(image: IMagickImage): void {
  if (image.colorSpace !== ColorSpace.sRGB) {
    const isManaged = image.colorSpace === ColorSpace.CMYK && image.getColorProfile() !== null;
    if (!isManaged || !image.transformColorSpace(new ColorProfile(SRGB_PROFILE)))
      image.colorSpace = ColorSpace.sRGB;
    image.removeProfile("icc");
  }
}

/** Exif, text and the like, which could unpack to a lot. What the pixels mean is in the colour profile. */
function dropMetadata(image: IMagickImage): void {
  for (const name of image.profileNames) if (name !== "icc") image.removeProfile(name);
  for (const name of image.attributeNames) image.removeAttribute(name);
}

/**
 * Without compression and filters: the picture is encoded once more afterwards. The encoder leaves out the colour profile,
 * too, where `zTXt` is excluded.
 */
function writePng(image: IMagickImage): Uint8Array<ArrayBuffer> {
  const { settings } = image;
  settings.setDefine(MagickFormat.Png, "compression-level", "0");
  settings.setDefine(MagickFormat.Png, "compression-filter", "0");
  settings.setDefine(MagickFormat.Png, "exclude-chunk", "date,eXIf,tEXt,iTXt");
  return image.write(MagickFormat.Png, (bytes) => new Uint8Array(bytes));
}
