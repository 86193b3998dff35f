import type { TextDialect, VendorTraits } from "../dialects/dialect.ts";
import type { TextDialectName } from "../dialects/name.ts";
import type { Target } from "../domain/channel.ts";
import type { FeatureUse } from "../domain/feature.ts";
import type { TokenPrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TextUpstream, Upstreams } from "./upstreams.ts";

/** The traits of a vendor that follows its dialect exactly. */
export const NO_TRAITS: VendorTraits = {};

/**
 * Returns a target's upstreams, one for each protocol that its vendor takes for its model, the preferred one for
 * translation first.
 */
export function textUpstreams(
  upstreams: Upstreams,
  { channel, upstreamModel }: Target,
): readonly TextUpstream[] {
  const all = upstreams.text(channel) ?? [];
  return all.filter((each) => each.serves?.(upstreamModel) ?? true);
}

/** Returns a target's upstream for a caller: in the caller's own protocol where the vendor takes it. */
export function textUpstreamFor(
  upstreams: Upstreams,
  target: Target,
  dialect: TextDialectName,
): TextUpstream {
  const upstream = findUpstream(upstreams, target, dialect) ?? findUpstream(upstreams, target, null);
  if (!upstream) throw new UpstreamError("account", `channel ${target.channel.id} does not serve text`);
  return upstream;
}

/** Returns the first upstream that serves the target's model in a dialect; any dialect when it is null. */
function findUpstream(
  upstreams: Upstreams,
  { channel, upstreamModel }: Target,
  dialect: TextDialectName | null,
): TextUpstream | undefined {
  for (const each of upstreams.text(channel) ?? [])
    if ((dialect === null || each.dialect === dialect) && (each.serves?.(upstreamModel) ?? true)) return each;
  return undefined;
}

/** Throws where a feature is billed by use and the vendor's protocol does not report the number of uses. */
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
 * Orders targets so that those whose vendors speak the caller's own protocol come first: nothing is lost on the way to
 * them.
 */
export function ownProtocolFirst(
  upstreams: Upstreams,
  targets: readonly Target[],
  dialect: TextDialectName,
): readonly Target[] {
  const speaks = (target: Target): boolean => findUpstream(upstreams, target, dialect) !== undefined;
  if (targets.length === 1 || targets.every(speaks)) return targets;
  return [...targets.filter(speaks), ...targets.filter((target) => !speaks(target))];
}

/**
 * True when the target can handle the links of a request; `param` is the field of the first one. An own server must
 * fetch none: it is inside the operator's network, where a caller's link could reach internal services (SSRF).
 */
export function fetchesLinks(param: string | null, { channel }: Target, { traits }: TextUpstream): boolean {
  return param === null || (!channel.isOwnServer && !traits?.fetchesNoLinks);
}

/** Throws when a request has a link in the field `param` and the target fetches none; another target may. */
export function requireFetchable(param: string | null, target: Target, upstream: TextUpstream): void {
  if (fetchesLinks(param, target, upstream)) return;
  const publicMessage = `This model fetches no links. Send \`${param}\` as a \`data:\` URL.`;
  const detail = { publicMessage, param: param ?? undefined, isUnsent: true, isByRequest: true };
  throw new UpstreamError("rejected", "a link for a server that fetches no links", detail);
}
