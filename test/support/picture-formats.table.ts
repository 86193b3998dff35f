import {
  AVIF,
  BMP_RLE,
  CMYK_JPEG,
  DERIVED_HEIC,
  HEIC,
  HEIC_WITH_ALPHA,
  PHONE_AVIF,
  PHONE_HEIC,
  PHONE_TIFF,
  TIFF_LZW,
  TURNED_HEIC,
} from "./encoded-pictures.table.ts";
import { exifData, makePng, pngChunk, webpWithExif } from "./pictures.ts";

/** A picture as clients send it. */
interface PictureFormat {
  name: string;
  bytes: Buffer<ArrayBuffer>;
  /** Format in which a vendor receives the picture. */
  sentAs: "jpeg" | "png" | "webp";
  /** Displayed size, which can differ from the size in the header. */
  width: number;
  height: number;
}

const lossyWebp = await new Bun.Image(makePng(40, 20)).webp({ quality: 80 }).bytes();
const turned = { chunks: [pngChunk("eXIf", exifData(8))] };

/** Pictures of readable formats and of special features: rotation, odd sizes, inks, runs, transparency. */
export const PICTURE_FORMATS: readonly PictureFormat[] = [
  { name: "HEIC", bytes: HEIC, sentAs: "jpeg", width: 96, height: 64 },
  { name: "HEIC of an odd size", bytes: PHONE_HEIC, sentAs: "jpeg", width: 33, height: 17 },
  { name: "turned HEIC", bytes: TURNED_HEIC, sentAs: "jpeg", width: 17, height: 33 },
  { name: "derived HEIC", bytes: DERIVED_HEIC, sentAs: "jpeg", width: 33, height: 17 },
  { name: "HEIC with clear parts", bytes: HEIC_WITH_ALPHA, sentAs: "png", width: 96, height: 64 },
  { name: "AVIF", bytes: AVIF, sentAs: "jpeg", width: 96, height: 64 },
  { name: "AVIF of an odd size", bytes: PHONE_AVIF, sentAs: "jpeg", width: 33, height: 17 },
  { name: "TIFF", bytes: TIFF_LZW, sentAs: "png", width: 96, height: 64 },
  { name: "TIFF of an odd size", bytes: PHONE_TIFF, sentAs: "png", width: 33, height: 17 },
  { name: "BMP of runs", bytes: BMP_RLE, sentAs: "png", width: 96, height: 64 },
  { name: "JPEG of inks", bytes: CMYK_JPEG, sentAs: "jpeg", width: 96, height: 64 },
  { name: "PNG", bytes: makePng(40, 30), sentAs: "png", width: 40, height: 30 },
  { name: "PNG turned by Exif", bytes: makePng(40, 20, turned), sentAs: "png", width: 20, height: 40 },
  {
    name: "WebP turned by Exif",
    bytes: webpWithExif(lossyWebp, 40, 20, exifData(6)),
    sentAs: "webp",
    width: 20,
    height: 40,
  },
];
