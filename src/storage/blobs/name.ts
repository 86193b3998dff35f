import { randomBytes } from "node:crypto";
import type { ImageFormat } from "../../domain/model.ts";

/** A new name that nobody can guess: 128 random bits and the format's extension, such as `3f…9a.png`. */
export function newBlobName(format: ImageFormat | "bin"): string {
  return `${randomBytes(16).toString("hex")}.${EXTENSIONS[format]}`;
}

/** True for a word that can name a stored blob; no other ever reaches a path, a key or a signature. */
export function isBlobName(name: string): boolean {
  return NAME.test(name);
}

/** MIME type by the extension of a blob's name. */
export function mimeTypeOf(name: string): string {
  if (name.endsWith(".bin")) return "application/octet-stream";
  return name.endsWith(".png") ? "image/png" : name.endsWith(".jpg") ? "image/jpeg" : "image/webp";
}

const EXTENSIONS: Readonly<Record<ImageFormat | "bin", string>> = {
  png: "png",
  jpeg: "jpg",
  webp: "webp",
  bin: "bin",
};
const NAME = /^[0-9a-f]{32}\.(?:png|jpg|webp|bin)$/;
