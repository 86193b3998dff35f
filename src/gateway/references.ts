import { GatewayError } from "../domain/gateway-error.ts";
import type { ImageRequest, ReferenceImage, ReferenceSource } from "../domain/image.ts";
import { checkMask, checkReference, readMask, readReference } from "../imaging/reference.ts";
import { recompress } from "../imaging/recompress.ts";
import { readLink, SafeFetchError, type SafeFetch } from "../lib/safe-fetch.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";
import type { Spool } from "../lib/spool.ts";
import {
  linkedPicture,
  toLocalBlob,
  type BlobStore,
  type Links,
  type StoredPicture,
} from "./delivery/stored-blobs.ts";

export interface ReferenceSettings {
  safeFetch: Pick<SafeFetch, "download">;
  blobs: BlobStore;
  links: Links;
  codecSlots: FairSemaphore;
}

interface ReferenceSurroundings {
  /** Id of the organization that sends the request. */
  organization: string;
  /** Receives the fetched files. */
  spool: Spool;
  usesMask: boolean;
  signal: AbortSignal;
}

/** Maximum bytes of each reference, whether uploaded, inline or linked: 35 MiB. */
const MAX_BYTES = 36_700_160;
/** Maximum number of links of one request that are fetched in parallel. */
const FETCHES_AT_ONCE = 4;

/**
 * Prepares the references and the mask. Links are fetched through the safe fetch, and types are read from the bytes.
 * Decompression bombs are refused by their headers; all other pictures are decoded completely. Throws a `GatewayError`
 * whose message names the image to change.
 */
export async function prepareReferences(
  settings: ReferenceSettings,
  request: ImageRequest,
  { usesMask, ...surroundings }: ReferenceSurroundings,
): Promise<{ references: ReferenceImage[]; mask?: ReferenceImage }> {
  const { organization, signal } = surroundings;
  const maskSource = usesMask ? request.readMask?.() : undefined;
  const blobs = await fetchAll(settings, request.references, surroundings);
  const references: ReferenceImage[] = [];
  const slots = settings.codecSlots.of(organization);
  for (const [index, blob] of blobs.entries()) {
    const name = nameOf("image", index, blobs.length);
    const read = await readReference(blob, { param: "image", name, slots, signal });
    const ready = request.compressReferences ? await recompress(read.blob, slots, signal) : read.blob;
    references.push({ ...read, blob: ready });
  }
  const [first] = references;
  if (!maskSource || !first) return { references };
  const [mask] = await fetchAll(settings, [maskSource], surroundings, "mask");
  return { references, ...(mask && { mask: await readMask(mask, first, { slots, signal }) }) };
}

/** Returns the name that error messages give a picture. */
function nameOf(param: "image" | "mask", index: number, count: number): string {
  return param === "mask" ? "The mask" : count === 1 ? "The image" : `Image ${index + 1} of ${count}`;
}

/**
 * Checks the references and the mask without decoding or fetching: the structure of pictures in the request, the form
 * of links, and the expiry of links to the gateway's own results. Throws as `prepareReferences` does.
 */
export async function checkReferences(
  settings: Pick<ReferenceSettings, "blobs" | "links">,
  request: ImageRequest,
  usesMask: boolean,
): Promise<void> {
  const count = request.references.length;
  const headers = await Promise.all(
    request.references.map(async (source, index) => {
      const names = { param: "image", name: nameOf("image", index, count) } as const;
      if (source.kind === "link") return await checkLink(settings, source.url, names);
      return await checkReference(checkedSize(source.blob, names), names);
    }),
  );
  const names = { param: "mask", name: nameOf("mask", 0, 1) } as const;
  const mask = usesMask ? request.readMask?.() : undefined;
  if (mask?.kind === "link") await checkLink(settings, mask.url, names);
  const [first] = headers;
  if (mask?.kind === "file" && first) await checkMask(checkedSize(mask.blob, names), first);
}

async function checkLink(
  settings: Pick<ReferenceSettings, "blobs" | "links">,
  url: string,
  names: Pick<LinkRequest, "name" | "param">,
): Promise<void> {
  const own = ownResult(settings, url);
  if (own && !(await own)) expired(names);
  if (!own && !readLink(url)) throw notAllowed(names.name, names.param);
}

async function fetchAll(
  settings: ReferenceSettings,
  sources: readonly ReferenceSource[],
  surroundings: Omit<ReferenceSurroundings, "usesMask">,
  param: "image" | "mask" = "image",
): Promise<Blob[]> {
  // The first failure aborts the other fetches, because nobody would use their results.
  const end = new AbortController();
  try {
    return await fetchBatches(settings, sources, {
      ...surroundings,
      signal: AbortSignal.any([surroundings.signal, end.signal]),
      param,
    });
  } finally {
    end.abort();
  }
}

async function fetchBatches(
  settings: ReferenceSettings,
  sources: readonly ReferenceSource[],
  request: Omit<LinkRequest, "name">,
): Promise<Blob[]> {
  const { param } = request;
  const found = new Map<string, Promise<Blob>>();
  const blobs: Blob[] = [];
  for (let start = 0; start < sources.length; start += FETCHES_AT_ONCE) {
    const batch = sources.slice(start, start + FETCHES_AT_ONCE).map(async (source, index) => {
      const name = nameOf(param, start + index, sources.length);
      if (source.kind === "file") return checkedSize(source.blob, { param, name });
      const known = found.get(source.url);
      if (known) return known;
      const fetched = fetchLink(settings, source.url, { ...request, name });
      found.set(source.url, fetched);
      return fetched;
    });
    blobs.push(...(await Promise.all(batch)));
  }
  return blobs;
}

function checkedSize<Picture extends { size: number }>(
  picture: Picture,
  { param, name }: { param: string; name: string },
): Picture {
  if (picture.size > 0 && picture.size <= MAX_BYTES) return picture;
  const problem = picture.size === 0 ? "is empty" : "is larger than 35 MiB";
  throw new GatewayError("invalid_image", `${name} ${problem}.`, { param });
}

interface LinkRequest extends Omit<ReferenceSurroundings, "usesMask"> {
  param: "image" | "mask";
  name: string;
}

async function fetchLink(settings: ReferenceSettings, url: string, request: LinkRequest): Promise<Blob> {
  const own = ownResult(settings, url);
  if (own) {
    const stored = checkedSize((await own) ?? expired(request), request);
    return await toLocalBlob(stored, request.spool, request.signal);
  }
  const file = request.spool.create();
  try {
    await settings.safeFetch.download(
      url,
      (bytes) => {
        file.write(bytes);
        return file.ready();
      },
      { signal: request.signal, tenant: request.organization, maxBytes: MAX_BYTES },
    );
    return await file.finish();
  } catch (error) {
    await file.remove();
    throw error instanceof SafeFetchError ? refusal(error, request) : error;
  }
}

/**
 * Returns the stored picture of a link to one of the gateway's own results. Returns null when the link or the picture
 * has expired. Returns undefined for a link to anything else. The signature proves the origin, so the address before
 * the name is not checked.
 */
function ownResult(
  { links, blobs }: Pick<ReferenceSettings, "blobs" | "links">,
  url: string,
): Promise<StoredPicture | null> | undefined {
  if (!URL.canParse(url)) return undefined;
  const { pathname, searchParams } = new URL(url);
  const name = /\/files\/([^/]+)$/.exec(pathname)?.[1];
  if (name === undefined) return undefined;
  const expires = searchParams.get("exp");
  const verdict = links.check(name, expires, searchParams.get("sig"));
  return verdict === "invalid" ? undefined : linkedPicture({ links, blobs }, verdict, { name, expires });
}

function expired({ param, name }: Pick<LinkRequest, "name" | "param">): never {
  const message = `${name} has expired here: send the picture itself, or make it again.`;
  throw new GatewayError("image_fetch_failed", message, { param });
}

/** Returns the error for a failed fetch. Its message reveals nothing about the host behind the link. */
function refusal(cause: SafeFetchError, { param, name }: LinkRequest): GatewayError {
  switch (cause.reason) {
    case "not_allowed":
      return notAllowed(name, param, cause);
    case "too_large":
      return new GatewayError("invalid_image", `${name} is larger than 35 MiB.`, { param, cause });
    case "failed": {
      const message = `${name} cannot be fetched: check that its link works without a login.`;
      return new GatewayError("image_fetch_failed", message, { param, cause });
    }
  }
}

function notAllowed(name: string, param: string, cause?: unknown): GatewayError {
  const message = `${name} cannot be fetched: use an https link to a public address.`;
  return new GatewayError("image_url_not_allowed", message, { param, cause });
}
