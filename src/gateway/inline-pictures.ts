import type { TextPayload } from "../dialects/dialect.ts";
import { pictureLinks, withPictures, type InlinePicture } from "../dialects/picture-links.ts";
import { textDialect } from "../dialects/text.ts";
import type { Target } from "../domain/channel.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { readImageHeader } from "../imaging/sniff.ts";
import { SafeFetchError, type SafeFetch } from "../lib/safe-fetch.ts";
import type { TextUpstream } from "./upstreams.ts";
import type { Call } from "./routing/call.ts";
import { fetchesLinks, requireFetchable } from "./text-upstreams.ts";

interface Surroundings {
  safeFetch: Pick<SafeFetch, "download">;
  /** Id of the organization that sends the request. */
  organization: string;
  call: Pick<Call, "signal">;
}

/** All pictures of a request together: their base64 must fit the body of a text request. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_PICTURES = 20;
/** Formats that every vendor takes. */
const FORMATS: ReadonlySet<string> = new Set(["png", "jpeg", "gif", "webp"]);

/**
 * Returns the request in a form that the target can read: for a target that fetches no links, the safe fetch
 * fetches the pictures. Throws an `UpstreamError`, after which another target may be called, for links that lead to no
 * picture or cannot be fetched. Returns a promise only where something is fetched.
 */
export function withReadableLinks(
  payload: TextPayload,
  { target, upstream }: { target: Target; upstream: TextUpstream },
  surroundings: Surroundings,
): TextPayload | Promise<TextPayload> {
  if (fetchesLinks(payload.parsed.linkParam, target, upstream)) return payload;
  return inlinePictures(payload, surroundings).then((inlined) => {
    requireFetchable(inlined.parsed.linkParam, target, upstream);
    return inlined;
  });
}

async function inlinePictures(payload: TextPayload, surroundings: Surroundings): Promise<TextPayload> {
  const links = pictureLinks(payload.parsed.body);
  const param = payload.parsed.linkParam;
  if (links.length > MAX_PICTURES) throw refusal(`Send at most ${MAX_PICTURES} pictures as links.`, param);
  const pictures = new Map<string, InlinePicture>();
  let bytesLeft = MAX_BYTES;
  for (const link of links) {
    const bytes = await fetchPicture(link, bytesLeft, param, surroundings);
    bytesLeft -= bytes.size;
    const type = await typeOf(bytes, param);
    pictures.set(link, { type, base64: Buffer.from(await bytes.arrayBuffer()).toString("base64") });
  }
  return textDialect(payload.dialect).withRaw(payload, withPictures(payload.raw, pictures));
}

async function fetchPicture(
  link: string,
  maxBytes: number,
  param: string | null,
  { safeFetch, organization, call }: Surroundings,
): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  try {
    // A piece is valid only until the sink returns.
    const take = (bytes: Uint8Array): void => void pieces.push(new Uint8Array(bytes));
    await safeFetch.download(link, take, { signal: call.signal, tenant: organization, maxBytes });
    return new Blob(pieces);
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    throw refusal(PROBLEMS[error.reason], param, error);
  }
}

const PROBLEMS: Readonly<Record<SafeFetchError["reason"], string>> = {
  not_allowed: "A picture's link is not public: send the picture as a `data:` URL.",
  too_large: "The linked pictures are larger than 20 MiB: send smaller ones.",
  failed: "A picture's link cannot be fetched: check that it works without a login.",
};

async function typeOf(picture: Blob, param: string | null): Promise<string> {
  const format = await readImageHeader(picture).then(
    (header) => header.format,
    () => null,
  );
  if (format !== null && FORMATS.has(format)) return `image/${format}`;
  throw refusal("A picture's link must lead to a PNG, JPEG, GIF or WebP picture.", param);
}

function refusal(publicMessage: string, param: string | null, cause?: unknown): UpstreamError {
  const detail = { publicMessage, param: param ?? undefined, isUnsent: true, isByRequest: true, cause };
  return new UpstreamError("rejected", "a link that cannot be fetched for a vendor", detail);
}
