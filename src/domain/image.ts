import type { StreamedObject } from "../lib/json-spool.ts";
import type { ImageFormat, ImageModel } from "./model.ts";
import type { Spool } from "../lib/spool.ts";
import type { ImageUsage, SizeTier } from "./usage.ts";

/**
 * One image request, whichever entrance it came through: generations, edits, the native protocol or a job.
 */
export interface ImageRequest {
  model: string;
  prompt: string;
  size: RequestedSize;
  /** As asked for; read on family A only. */
  quality?: string;
  background?: string;
  /** 1 to 4. */
  count: number;
  format?: ImageFormat;
  /** 0 to 100; jpeg and webp only. */
  compression?: number;
  /** How the caller wants the images; undefined when it did not say. */
  delivery?: "url" | "b64_json";
  /** In upload order: the first is image 1. Not empty makes the request an edit. */
  references: ReferenceSource[];
  /** Reads the mask; for models that take one, elsewhere it is ignored whatever it is. Throws a `GatewayError`. */
  readMask?(): ReferenceSource | undefined;
  /** `x-input-image-compress: true` */
  compressReferences: boolean;
  /** Unknown fields, told to the caller in `x-gateway-ignored-params`. */
  ignored: string[];
  /** The caller's own body, when it came in the native generate protocol; its pictures are `references`, in order. */
  native?: StreamedObject;
}

export type RequestedSize =
  | { kind: "unset" }
  | { kind: "exact"; width: number; height: number }
  | { kind: "tier"; tier: SizeTier | null; ratio: string | null };

/** Where a reference image comes from, before anything was fetched or decoded. */
export type ReferenceSource = { kind: "file"; blob: Blob } | { kind: "link"; url: string };

/** A reference made ready: its bytes are at hand, its type was told by them. */
export interface ReferenceImage {
  blob: Blob;
  format: ImageFormat | "gif" | "heic" | "avif" | "tiff" | "bmp";
  width: number;
  height: number;
}

/** The size a model will really be asked for, aligned to what it can do. */
export interface ResolvedSize {
  tier: SizeTier;
  /** `W:H`, always one of the model's. */
  ratio: string;
  width: number;
  height: number;
  /** True when the caller named no size and the model may choose. */
  isAuto: boolean;
  /** True when the caller named no shape: an edit keeps that of its first reference, at the tier. */
  isShapeFree: boolean;
}

/** What a provider is asked to make: aligned, legal for the model, references ready. */
export interface ImageOrder {
  /** The vendor's name of the model. */
  upstreamModel: string;
  model: ImageModel;
  prompt: string;
  size: ResolvedSize;
  /** One of the model's qualities, `auto`, or undefined when it has none. */
  quality?: string;
  background?: string;
  count: number;
  /** The wanted format, when the caller named one. The gateway transcodes where the vendor cannot. */
  format?: ImageFormat;
  compression?: number;
  references: ReferenceImage[];
  mask?: ReferenceImage;
  /** The caller's body in the native generate protocol, for an upstream that speaks it; others read the rest. */
  native?: StreamedObject;
  /** Where large pictures go while they arrive; it lasts until the answer has been sent. */
  spool: Spool;
}

/** What a provider made. Size and format of each image are read from its bytes, not from these words. */
export interface ImageReply {
  images: Blob[];
  quality?: string;
  background?: string;
  /** True when the vendor compressed them as asked; elsewhere the gateway does. */
  isCompressed?: boolean;
  usage?: ImageUsage["tokens"];
  /** The vendor's own reply to `native`, its pictures as `Blob`s; `images` are the finished ones, in order. */
  native?: StreamedObject;
}
