import type { FeatureUse } from "./feature.ts";
import type { StreamedObject } from "../lib/json-spool.ts";
import type { ImageFormat, ImageModel } from "./model.ts";
import type { Spool } from "../lib/spool.ts";
import type { ImageTokens, SizeTier } from "./usage.ts";
import type { VendorCost } from "./vendor-cost.ts";

/**
 * One image request of any endpoint: generations, edits, the native protocol or a job.
 */
export interface ImageRequest {
  model: string;
  prompt: string;
  size: RequestedSize;
  /** As requested; used on family A only. */
  quality?: string;
  background?: string;
  /** 1 to 4. */
  count: number;
  format?: ImageFormat;
  /** 0 to 100; jpeg and webp only. */
  compression?: number;
  /** How the caller wants the images; undefined when not specified. */
  delivery?: "url" | "b64_json";
  /** In upload order: the first is image 1. An edit has at least one. */
  references: ReferenceSource[];
  /** Reads the mask, where there is one; not called for models without masks, which ignore it. Throws a `GatewayError`. */
  readMask?(): ReferenceSource | undefined;
  /** `x-input-image-compress: true` */
  compressReferences: boolean;
  /** Unknown fields, listed in the response header `x-gateway-ignored-params`. */
  ignored: string[];
  /** What the model's record must allow. */
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
  /** Id of the organization whose request it is; vendors are not told. */
  organization: string;
  prompt: string;
  size: ResolvedSize;
  /** One of the model's qualities, `auto`, or undefined when it has none. */
  quality?: string;
  background?: string;
  count: number;
  /** The format the caller named. The gateway transcodes where the vendor cannot. */
  format?: ImageFormat;
  compression?: number;
  references: ReferenceImage[];
  mask?: ReferenceImage;
  /** The caller's body in the native generate protocol, for an upstream that speaks it; others read the rest. */
  native?: StreamedObject;
  /** Receives large pictures while they arrive; disposed after the response is sent. */
  spool: Spool;
  /** The record of the vendor's job of each call, by its number from 0, where the order outlives this process. */
  vendorJobs?(call: number): VendorJobRecord;
}

/** What is remembered of one call to an asynchronous vendor, so that another process can finish it. */
export interface VendorJobRecord {
  /** The vendor's id; null when this call is the first, and submits. */
  id: string | null;
  /** The call may have been submitted before, by a process that did not learn the id: it must not be submitted again. */
  isLost: boolean;
  /** Call once the vendor has named its job; resolves when that is remembered. */
  save(id: string): Promise<void>;
  /** Whether another process goes on with the job, which must then not be cancelled. */
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
