import { makePng } from "../support/pictures.ts";

/** A real picture of this size and format. It is plain, so that it is small and fast to make. */
export async function makePicture(
  width: number,
  height: number,
  format: "png" | "jpeg" | "webp",
): Promise<Buffer> {
  const seed = new Bun.Image(makePng(4, 4)).resize(width, height, { filter: "nearest" });
  return format === "png"
    ? seed.png({ compressionLevel: 1 }).buffer()
    : format === "jpeg"
      ? seed.jpeg({ quality: 60 }).buffer()
      : seed.webp({ quality: 10 }).buffer();
}
