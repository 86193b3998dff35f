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
  /** The vendor's reply, where request and vendor both use the native protocol. */
  native?: StreamedObject;
}

export interface DeliveredImage {
  blob: Blob;
  /** Signed link, and the name it leads to; absent where only the bytes are delivered. */
  url?: string;
  name?: string;
  /** Whether the response contains the bytes. */
  isInline: boolean;
}
