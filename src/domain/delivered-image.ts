import type { StreamedObject } from "../lib/json-spool.ts";
import type { ImageFormat } from "./model.ts";
import type { ImageTokens } from "./usage.ts";

/** Pictures as delivered, with the values that took effect. */
export interface ImageDelivery {
  model: string;
  /** Pixels of the first image. */
  width: number;
  height: number;
  quality: string;
  background: string;
  format: ImageFormat;
  images: DeliveredImage[];
  usage?: ImageTokens;
  /** The vendor's reply, when request and vendor both use the native protocol. */
  native?: StreamedObject;
}

export interface DeliveredImage {
  blob: Blob;
  /** The signed link and the name in it; absent when only the bytes are delivered. */
  url?: string;
  name?: string;
  /** True when the response contains the bytes. */
  isInline: boolean;
}

/** A delivered picture that is stored until its retention ends. */
export interface StoredImage {
  /** The last part of its link. */
  name: string;
  width: number;
  height: number;
  format: ImageFormat;
  bytes: number;
}

/** Returns the pictures that the caller gets by a link. */
export function storedImages({ images, width, height, format }: ImageDelivery): StoredImage[] {
  return images.flatMap(({ name, blob }) =>
    name === undefined ? [] : [{ name, width, height, format, bytes: blob.size }],
  );
}
