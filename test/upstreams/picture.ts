import { makePng } from "../support/pictures.ts";

const made = new Map<string, Promise<Buffer>>();

/** Returns a real picture of this size and format. A few large areas keep the file small. Results are cached. */
export function makePicture(width: number, height: number, format: "png" | "jpeg" | "webp"): Promise<Buffer> {
  const name = `${width}x${height} ${format}`;
  const known = made.get(name);
  if (known) return known;
  const seed = new Bun.Image(makePng(4, 4)).resize(width, height, { filter: "nearest" });
  const picture =
    format === "png"
      ? seed.png({ compressionLevel: 1 }).buffer()
      : format === "jpeg"
        ? seed.jpeg({ quality: 60 }).buffer()
        : seed.webp({ quality: 10 }).buffer();
  made.set(name, picture);
  return picture;
}
