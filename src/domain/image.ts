import type { StreamedObject } from "../lib/json-spool.ts";
import type { Spool } from "../lib/spool.ts";
import type { FeatureUse } from "./feature.ts";
import type { ImageFormat, ImageModel } from "./model.ts";
import type { ImageTokens, SizeTier, VendorCost } from "./usage.ts";

/** One image request of any endpoint: generations, edits, the native protocol or a job. */
export interface ImageRequest {
  model: string;
  prompt: string;
  size: RequestedSize;
  /** The requested quality; used for family A only. */
  quality?: string;
  background?: string;
  /** Number of requested images, 1 to 4. */
  count: number;
  format?: ImageFormat;
  /** Compression from 0 to 100, only for jpeg and webp. */
  compression?: number;
  /** The form in which the caller requests the images; undefined when not specified. */
  delivery?: "url" | "b64_json";
  /** Reference images in the order of the upload: the first is image 1. An edit has at least one. */
  references: ReferenceSource[];
  /** Reads the mask, if any. It is not called for models that ignore masks. Throws a `GatewayError`. */
  readMask?(): ReferenceSource | undefined;
  /** True when the request has the header `x-input-image-compress: true`. */
  compressReferences: boolean;
  /** Names of fields that were ignored, for the response header `x-gateway-ignored-params`. */
  ignored: string[];
  /** Features that the request uses. The model's record must allow them. */
  features?: readonly FeatureUse[];
  /** The caller's body in the native generate protocol. `references` has the pictures of this body, in order. */
  native?: StreamedObject;
}

export type RequestedSize =
  | { kind: "unset" }
  | { kind: "exact"; width: number; height: number }
  | { kind: "tier"; tier: SizeTier | null; ratio: string | null };

/** The source of a reference image, before it is fetched or decoded. */
export type ReferenceSource = { kind: "file"; blob: Blob } | { kind: "link"; url: string };

/** A fetched reference image. Its format is read from its bytes. */
export interface ReferenceImage {
  blob: Blob;
  format: ImageFormat | "gif" | "heic" | "avif" | "tiff" | "bmp";
  width: number;
  height: number;
}

/** The size to request from a model, adapted to the sizes that the model supports. */
export interface ResolvedSize {
  tier: SizeTier;
  /** The nearest of the model's ratios, as `W:H`; `1:1` for a model without ratios. */
  ratio: string;
  width: number;
  height: number;
  /** True when the caller set no size, so that the model may choose a size. */
  isAuto: boolean;
  /** True when the caller set no ratio. An edit then keeps the ratio of image 1, in the requested tier. */
  isShapeFree: boolean;
}

/** The request to a provider. Its values are adapted to the model, and its reference images are fetched. */
export interface ImageOrder {
  /** The vendor's name for the model. */
  upstreamModel: string;
  model: ImageModel;
  /** Id of the organization that sends the request. Vendors do not get it. */
  organization: string;
  prompt: string;
  size: ResolvedSize;
  /** One of the model's qualities, or `auto`; undefined when the model has no qualities. */
  quality?: string;
  background?: string;
  count: number;
  /** The format that the caller requests. The gateway converts images if the vendor cannot deliver this format. */
  format?: ImageFormat;
  compression?: number;
  references: ReferenceImage[];
  mask?: ReferenceImage;
  /** The caller's body in the native protocol, only for its providers. All others read the fields above. */
  native?: StreamedObject;
  /** Receives large pictures while they arrive. The server or the job's worker disposes of it. */
  spool: Spool;
  /**
   * Returns the record of the vendor's job for call number `call`, from 0. Absent when no other process could continue.
   */
  vendorJobs?(call: number): VendorJobRecord;
}

/** The stored record of a job at an asynchronous vendor. With the record, another process can finish the call. */
export interface VendorJobRecord {
  /** Id of the vendor's job; null before the job was submitted. */
  id: string | null;
  /** True when an earlier process may have submitted the job, and stored no id. The job is not submitted again. */
  isLost: boolean;
  /** Stores the id of the vendor's job. Resolves when it is stored. */
  save(id: string): Promise<void>;
  /** Returns true when another process continues the job. Then the job must not be cancelled. */
  isHandedOver(): boolean;
}

/** The reply of a provider. Size and format of each image are read from its bytes. */
export interface ImageReply {
  images: Blob[];
  /** The vendor's own id of the call. */
  requestId?: string;
  quality?: string;
  background?: string;
  /** True when the vendor compressed the images as requested. Otherwise the gateway compresses them. */
  isCompressed?: boolean;
  usage?: ImageTokens;
  vendorCost?: VendorCost;
  /**
   * The vendor's reply to `native`, in which handles replace the pictures. `images` has the final pictures in order.
   */
  native?: StreamedObject;
}

/** Pictures as they are delivered to the caller, with the values that took effect. */
export interface ImageDelivery {
  model: string;
  /** Width and height of the first image, in pixels. */
  width: number;
  height: number;
  quality: string;
  background: string;
  format: ImageFormat;
  images: DeliveredImage[];
  usage?: ImageTokens;
  /** The vendor's reply, if both the request and the vendor use the native protocol. */
  native?: StreamedObject;
}

export interface DeliveredImage {
  blob: Blob;
  /** The signed link. `name` is the name of the stored picture. Both are absent when only the bytes are delivered. */
  url?: string;
  name?: string;
  /** True when the response contains the bytes of the picture. */
  isInline: boolean;
}

/** A delivered picture that is stored until its retention time ends. */
export interface StoredImage {
  /** Name of the picture, which is the last part of its link. */
  name: string;
  width: number;
  height: number;
  format: ImageFormat;
  bytes: number;
}

/** Returns the pictures that the caller gets as links. */
export function storedImages({ images, width, height, format }: ImageDelivery): StoredImage[] {
  return images.flatMap(({ name, blob }) =>
    name === undefined ? [] : [{ name, width, height, format, bytes: blob.size }],
  );
}
