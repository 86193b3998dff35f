import type { StreamedObject } from "../lib/json-spool.ts";
import type { ImageFormat } from "./model.ts";
import type { ImageUsage } from "./usage.ts";

/** Pictures as the caller gets them, with what truly took effect. */
export interface ImageDelivery {
  model: string;
  /** Pixels of the first image. */
  width: number;
  height: number;
  quality: string;
  background: string;
  format: ImageFormat;
  images: DeliveredImage[];
  usage?: ImageUsage["tokens"];
  /** The vendor's own reply, where request and vendor both speak the native protocol. */
  native?: StreamedObject;
}

export interface DeliveredImage {
  blob: Blob;
  /** Signed link; absent where the caller gets the bytes only. */
  url?: string;
  /** Whether the bytes go into the answer. */
  isInline: boolean;
}
