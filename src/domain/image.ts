import type { StreamedObject } from "../lib/json-spool.ts";
import type { Spool } from "../lib/spool.ts";
import type { FeatureUse } from "./feature.ts";
import type { ImageFormat, ImageModel } from "./model.ts";
import type { ImageTokens, SizeTier, VendorCost } from "./usage.ts";

/**
 * One image request of any endpoint: generations, edits, the native protocol or a job.
 */
export interface ImageRequest {
  model: string;
  prompt: string;
  size: RequestedSize;
  /** The requested quality; used on family A only. */
  quality?: string;
  background?: string;
  /** 1 to 4. */
  count: number;
  format?: ImageFormat;
  /** 0 to 100; jpeg and webp only. */
  compression?: number;
  /** The form in which the caller requests the images; undefined when not specified. */
  delivery?: "url" | "b64_json";
  /** In upload order: the first is image 1. An edit has at least one. */
  references: ReferenceSource[];
  /**
   * Reads the mask, if there is one. Not called for models without masks, which ignore it. Throws a `GatewayError`.
   */
  readMask?(): ReferenceSource | undefined;
  /** `x-input-image-compress: true` */
  compressReferences: boolean;
  /** Unknown fields, listed in the response header `x-gateway-ignored-params`. */
  ignored: string[];
  /** The features that the model's record must allow. */
  features?: readonly FeatureUse[];
  /** The caller's body in the native generate protocol; its pictures are `references`, in order. */
  native?: StreamedObject;
}

export type RequestedSize =
  | { kind: "unset" }
  | { kind: "exact"; width: number; height: number }
  | { kind: "tier"; tier: SizeTier | null; ratio: string | null };

/** The source of a reference image, before it is fetched or decoded. */
export type ReferenceSource = { kind: "file"; blob: Blob } | { kind: "link"; url: string };

/** A fetched reference; its format was read from its bytes. */
export interface ReferenceImage {
  blob: Blob;
  format: ImageFormat | "gif" | "heic" | "avif" | "tiff" | "bmp";
  width: number;
  height: number;
}

/** The size that is requested from a model, aligned to what it supports. */
export interface ResolvedSize {
  tier: SizeTier;
  /** `W:H`, always one of the model's. */
  ratio: string;
  width: number;
  height: number;
  /** True when the caller named no size and the model may choose. */
  isAuto: boolean;
  /** True when the caller named no shape: an edit keeps the shape of image 1, at the tier. */
  isShapeFree: boolean;
}

/** The request to a provider: aligned, legal for the model, references fetched. */
export interface ImageOrder {
  /** The vendor's name for the model. */
  upstreamModel: string;
  model: ImageModel;
  /** Id of the organization that sends the request; vendors do not get it. */
  organization: string;
  prompt: string;
  size: ResolvedSize;
  /** One of the model's qualities, `auto`, or undefined when it has none. */
  quality?: string;
  background?: string;
  count: number;
  /** The format that the caller named. The gateway converts to it when the vendor cannot. */
  format?: ImageFormat;
  compression?: number;
  references: ReferenceImage[];
  mask?: ReferenceImage;
  /**
   * The caller's body in the native generate protocol, for an upstream of that protocol; others use the other fields.
   */
  native?: StreamedObject;
  /** Receives large pictures while they arrive; disposed after the response is sent. */
  spool: Spool;
  /** Returns the record of the vendor's job of a call, by its number from 0, when the order outlives this process. */
  vendorJobs?(call: number): VendorJobRecord;
}

/** The stored record of one call to an asynchronous vendor, by which another process can finish it. */
export interface VendorJobRecord {
  /** The vendor's id; null when this is the first call, which submits. */
  id: string | null;
  /**
   * True when an earlier process may have submitted the job without learning its id: it must not be submitted again.
   */
  isLost: boolean;
  /** Stores the vendor's job id; resolves when it is stored. */
  save(id: string): Promise<void>;
  /** Returns true when another process continues the job, which must then not be cancelled. */
  isHandedOver(): boolean;
}

/** The result of a provider. Size and format of each image are read from its bytes. */
export interface ImageReply {
  images: Blob[];
  /** The vendor's own id of the call. */
  requestId?: string;
  quality?: string;
  background?: string;
  /** True when the vendor compressed them as requested; otherwise the gateway does. */
  isCompressed?: boolean;
  usage?: ImageTokens;
  vendorCost?: VendorCost;
  /** The vendor's reply to `native`, its pictures as handles; `images` are the final ones, in order. */
  native?: StreamedObject;
}

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
