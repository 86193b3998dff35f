import type { TextDialect, TextPayload, VendorTraits } from "../dialects/dialect.ts";
import type { TextDialectName } from "../dialects/name.ts";
import { type InlinePicture, pictureLinks, withPictures } from "../dialects/picture-links.ts";
import { textDialect } from "../dialects/text.ts";
import type { Target } from "../domain/channel.ts";
import type { FeatureUse } from "../domain/feature.ts";
import type { TokenPrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { readImageHeader } from "../imaging/sniff.ts";
import { type SafeFetch, SafeFetchError } from "../lib/safe-fetch.ts";
import type { Call } from "./routing/call.ts";
import type { TextUpstream, Upstreams } from "./upstreams.ts";

/** The traits of a vendor that follows its dialect exactly. */
export const NO_TRAITS: VendorTraits = {};

/** Returns a target's upstream for each protocol of its model. The upstream preferred for translation is first. */
export function textUpstreams(
  upstreams: Upstreams,
  { channel, upstreamModel }: Target,
): readonly TextUpstream[] {
  const all = upstreams.text(channel) ?? [];
  return all.filter((each) => each.serves?.(upstreamModel) ?? true);
}

/** Returns the upstream of a target for a caller. Prefers the upstream for the caller's own protocol. */
export function textUpstreamFor(
  upstreams: Upstreams,
  target: Target,
  dialect: TextDialectName,
): TextUpstream {
  const upstream = findUpstream(upstreams, target, dialect) ?? findUpstream(upstreams, target, null);
  if (!upstream) throw new UpstreamError("account", `channel ${target.channel.id} does not serve text`);
  return upstream;
}

/** Returns the first upstream that serves the target's model in `dialect`, or in any dialect if `dialect` is null. */
function findUpstream(
  upstreams: Upstreams,
  { channel, upstreamModel }: Target,
  dialect: TextDialectName | null,
): TextUpstream | undefined {
  for (const each of upstreams.text(channel) ?? [])
    if ((dialect === null || each.dialect === dialect) && (each.serves?.(upstreamModel) ?? true)) return each;
  return undefined;
}

/** Throws for a feature that is billed by use when the vendor's protocol does not report the number of uses. */
export function requireCounts(
  { countedFeatures = [] }: Pick<TextDialect, "countedFeatures">,
  { perUse = {} }: TokenPrice,
  features: readonly FeatureUse[],
): void {
  for (const { feature, param } of features) {
    if (feature === null || !perUse[feature]?.amount || countedFeatures.includes(feature)) continue;
    const publicMessage = `\`${param}\` uses a feature that this model is not offered with here. Leave it out.`;
    const detail = { publicMessage, param, isUnsent: true, isByRequest: true };
    throw new UpstreamError("rejected", "uses that are billed and not reported", detail);
  }
}

/**
 * True when the target can take the links of a request. `param` is the field of the first link; null when there is no
 * link. The operator's own server must not fetch links. It is inside the operator's network, where a caller's link
 * could reach internal services (SSRF).
 */
function fetchesLinks(param: string | null, { channel }: Target, { traits }: TextUpstream): boolean {
  return param === null || (!channel.isOwnServer && !traits?.fetchesNoLinks);
}

/** Throws if the request has a link in field `param` and the target fetches none. Another target may then be called. */
function requireFetchable(param: string | null, target: Target, upstream: TextUpstream): void {
  if (fetchesLinks(param, target, upstream)) return;
  const publicMessage = `This model fetches no links. Send \`${param}\` as a \`data:\` URL.`;
  const detail = { publicMessage, param: param ?? undefined, isUnsent: true, isByRequest: true };
  throw new UpstreamError("rejected", "a link for a server that fetches no links", detail);
}

interface Surroundings {
  safeFetch: Pick<SafeFetch, "download">;
  /** Id of the organization that sends the request. */
  organization: string;
  call: Pick<Call, "signal">;
}

/**
 * Maximum bytes of all pictures that are fetched for a request. As base64 they must fit into the body of a text
 * request.
 */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_PICTURES = 20;
/** Formats of pictures that every vendor accepts. */
const FORMATS: ReadonlySet<string> = new Set(["png", "jpeg", "gif", "webp"]);

/**
 * Returns the request in a form that the target can read. If the target fetches no links, the safe fetch fetches the
 * pictures. Throws an `UpstreamError` for a link that cannot be fetched or leads to no picture; another target may then
 * be called. Returns a promise only when something must be fetched.
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
    // The bytes are copied, because they are valid only until this function returns.
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
