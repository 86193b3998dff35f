import { linkDrafts, type LinkDraft } from "../../dialects/native/index.ts";
import type { DeliveredImage, ImageDelivery, ImageReply, ImageRequest } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import type { OrganizationSettings } from "../../domain/organization.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { ImageTokens } from "../../domain/usage.ts";
import { UnreadableImageError, type ImageHeader } from "../../imaging/header-reader.ts";
import { readImageHeader } from "../../imaging/sniff.ts";
import { transcode } from "../../imaging/transcode.ts";
import { requireWhole } from "../../imaging/whole.ts";
import type { FairSemaphore, Semaphore } from "../../lib/semaphore.ts";
import type { BlobStore, Links } from "./stored-blobs.ts";

export interface DeliverySettings {
  blobs: BlobStore;
  links: Links;
  /** Bounds the number of pictures decoded or encoded at the same time. */
  codecSlots: FairSemaphore;
}

export interface DeliveryRequest {
  request: ImageRequest;
  reply: ImageReply;
  /** The readable pictures of the reply. */
  pictures: readonly ReadPicture[];
  /** Values that were sent to the vendor. They are reported if the reply does not contain the actual values. */
  sent: { quality?: string; background?: string };
  /** Base address of the links to pictures. */
  base: string;
  settings: OrganizationSettings;
  organizationId: string;
}

/**
 * Prepares at most the requested number of pictures for the caller, in the requested format. When the caller gets
 * links, the pictures are stored. Throws an `UpstreamError` when a picture cannot be decoded.
 */
export async function deliver(
  { blobs, links, codecSlots }: DeliverySettings,
  { request, reply, pictures: read, sent, base, settings, organizationId }: DeliveryRequest,
): Promise<ImageDelivery> {
  const { isLinked, isInline } = deliveryKind(request, settings);
  const slots = codecSlots.of(organizationId);
  const pictures = await Promise.all(
    read.slice(0, request.count).map((picture) => prepare(picture, request, reply, slots)),
  );
  const [first] = pictures;
  if (!first) throw new UpstreamError("broken", "the reply has no picture");
  const link = async (blob: Blob, format: ImageFormat): Promise<{ name: string; url: string }> => {
    const { name } = await blobs.put(blob, format, organizationId);
    return { name, url: links.sign(base, name, settings.linkHours) };
  };
  const images = await Promise.all(
    pictures.map(async ({ blob, format }): Promise<DeliveredImage> => {
      if (!isLinked) return { blob, isInline };
      const { name, url } = await link(blob, format);
      return { blob, isInline, name, url };
    }),
  );
  return {
    model: request.model,
    width: first.width,
    height: first.height,
    quality: reply.quality ?? sent.quality ?? "auto",
    background: backgroundOf(first, reply.background ?? sent.background),
    format: first.format,
    images,
    usage: reply.usage && withInputDetails(reply.usage, request),
    // A native request with `delivery` belongs to a job. Drafts are not stored for a job, because its result has none.
    native:
      reply.native && isLinked && request.delivery === undefined
        ? await linkDrafts(reply.native, linkWith(link))
        : reply.native,
  };
}

/**
 * Returns the vendor's files that have a picture's header and a complete structure. Other files are dropped and not
 * billed. When no file is left, throws an `UpstreamError` of kind `broken`, so that another target can be called.
 */
export async function readPictures(images: readonly Blob[]): Promise<ReadPicture[]> {
  const reads = images.map(async (blob): Promise<ReadPicture> => {
    const header = await readImageHeader(blob);
    await requireWhole(blob, header.format);
    return { blob, header };
  });
  const outcomes = await Promise.allSettled(reads);
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure && outcomes.every(({ status }) => status === "rejected")) asBroken(failure.reason);
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
}

/** A picture as the vendor sent it, with its header. */
export interface ReadPicture {
  blob: Blob;
  header: ImageHeader;
}

/** Makes the function that links drafts. That function returns null for a draft that cannot be served as a file. */
function linkWith(link: (blob: Blob, format: ImageFormat) => Promise<{ url: string }>): LinkDraft {
  return async (draft) => {
    const header = await readImageHeader(draft).catch(() => null);
    if (!header || !isDeliverable(header.format)) return null;
    return { format: header.format, ...(await link(draft, header.format)) };
  };
}

/**
 * Decides if pictures are linked, inline or both, by the request and the organization's settings. For a native request
 * without `delivery`, only `nativeImageUrls` decides.
 */
export function deliveryKind(
  { delivery: requested, native }: ImageRequest,
  { forceImageUrls, nativeImageUrls }: OrganizationSettings,
): { isLinked: boolean; isInline: boolean } {
  if (native && requested === undefined) return { isLinked: nativeImageUrls, isInline: !nativeImageUrls };
  if (forceImageUrls === true) return { isLinked: true, isInline: false };
  if (requested !== undefined) return { isLinked: requested === "url", isInline: requested === "b64_json" };
  return { isLinked: true, isInline: forceImageUrls === false };
}

interface Picture {
  blob: Blob;
  format: ImageFormat;
  width: number;
  height: number;
  hasAlpha: boolean;
}

/** Returns the background of a picture. A picture without an alpha channel is opaque, whatever the vendor reports. */
function backgroundOf({ format, hasAlpha }: Picture, reported: string | undefined): string {
  return hasAlpha && format !== "jpeg" && reported === "transparent" ? "transparent" : "opaque";
}

async function prepare(
  { blob: image, header }: ReadPicture,
  { format, compression }: ImageRequest,
  { isCompressed }: ImageReply,
  slots: Semaphore,
): Promise<Picture> {
  const { width, height, hasAlpha } = header;
  const delivered = isDeliverable(header.format) ? header.format : undefined;
  const wanted = format ?? delivered ?? "png";
  // At the highest quality (100), a picture in the wanted format is not encoded again, because that would only lose
  // detail.
  const isCompressing = !isCompressed && compression !== undefined && compression < 100;
  if (wanted === delivered && (wanted === "png" || !isCompressing))
    return { blob: image, format: wanted, width, height, hasAlpha };
  const blob = await transcode(image, wanted, { compression, slots }).catch(asBroken);
  return { blob, format: wanted, width, height, hasAlpha };
}

/**
 * Splits the input tokens if the vendor does not. With references, tokens beyond the prompt's estimate count as image
 * tokens.
 */
function withInputDetails(usage: ImageTokens, { prompt, references }: ImageRequest): ImageTokens {
  if (usage.inputDetails) return usage;
  const estimated = Math.ceil(Buffer.byteLength(prompt) / BYTES_PER_TOKEN);
  const text = references.length === 0 ? usage.input : Math.min(usage.input, estimated);
  return { ...usage, inputDetails: { text, image: usage.input - text } };
}

/** Approximate number of bytes per token of plain text. */
const BYTES_PER_TOKEN = 4;

function asBroken(cause: unknown): never {
  throw cause instanceof UnreadableImageError
    ? new UpstreamError("broken", "a file of the reply is not a picture", { cause })
    : cause;
}

function isDeliverable(format: string): format is ImageFormat {
  return format === "png" || format === "jpeg" || format === "webp";
}
