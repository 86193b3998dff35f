import type { ImageFormat } from "../../domain/model.ts";
import type { Canvas } from "./canvas.ts";

/** Low, because the enlarged pictures are mostly even and the time for 16 million pixels counts. */
const PNG_COMPRESSION_LEVEL = 3;

export interface Encoding {
  format: ImageFormat;
  /** Exact size of the delivered picture. */
  width: number;
  height: number;
  /** 1 to 100, for jpeg and webp. */
  quality: number;
}

/** Enlarges a painted canvas to its exact size and encodes it, off the main thread. */
export async function encodePicture(canvas: Canvas, encoding: Encoding): Promise<Blob> {
  const { width, height, quality } = encoding;
  const painted = new Bun.Image(canvas.file);
  const isExact = canvas.width === width && canvas.height === height;
  const image = isExact ? painted : painted.resize(width, height, { filter: "nearest" });
  switch (encoding.format) {
    case "png":
      return image.png({ compressionLevel: PNG_COMPRESSION_LEVEL }).blob();
    case "jpeg":
      return image.jpeg({ quality }).blob();
    case "webp":
      return image.webp({ quality }).blob();
  }
}
