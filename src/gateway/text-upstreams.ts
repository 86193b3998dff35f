import type { TextDialect, VendorTraits } from "../dialects/dialect.ts";
import type { TextDialectName } from "../dialects/name.ts";
import type { Target } from "../domain/channel.ts";
import type { FeatureUse } from "../domain/feature.ts";
import type { TokenPrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TextUpstream, Upstreams } from "./upstreams.ts";

/** Of a vendor that does everything as its dialect says. */
export const NO_TRAITS: VendorTraits = {};

/** A target's ends, one for each protocol that its vendor takes for its model, the one to translate into first. */
export function textUpstreams(
  upstreams: Upstreams,
  { channel, upstreamModel }: Target,
): readonly TextUpstream[] {
  const all = upstreams.text(channel) ?? [];
  return all.filter((each) => each.serves?.(upstreamModel) ?? true);
}

/** A target's end for a caller: in the caller's own protocol where the vendor takes that one. */
export function textUpstreamFor(
  upstreams: Upstreams,
  target: Target,
  dialect: TextDialectName,
): TextUpstream {
  const upstream = findUpstream(upstreams, target, dialect) ?? findUpstream(upstreams, target, null);
  if (!upstream) throw new UpstreamError("account", `channel ${target.channel.id} does not serve text`);
  return upstream;
}

/** The first end that serves the target's model, in a dialect or with null in any. */
function findUpstream(
  upstreams: Upstreams,
  { channel, upstreamModel }: Target,
  dialect: TextDialectName | null,
): TextUpstream | undefined {
  for (const each of upstreams.text(channel) ?? [])
    if ((dialect === null || each.dialect === dialect) && (each.serves?.(upstreamModel) ?? true)) return each;
  return undefined;
}

/** Throws where a feature costs something by use and the vendor's protocol does not report how often it was used. */
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
 * Targets in their order, those first whose vendors speak the caller's own protocol: nothing is lost on the way to
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
 * Whether the target can do with the links of a request, of which `param` is the first. An own server must fetch none:
 * it is inside the operator's network, where a caller's link could reach internal services (SSRF).
 */
export function fetchesLinks(param: string | null, { channel }: Target, { traits }: TextUpstream): boolean {
  return param === null || (!channel.isOwnServer && !traits?.fetchesNoLinks);
}

/** Throws where a request has a link, in the field `param`, that the target does not fetch; another one may. */
export function requireFetchable(param: string | null, target: Target, upstream: TextUpstream): void {
  if (fetchesLinks(param, target, upstream)) return;
  const publicMessage = `This model fetches no links. Send \`${param}\` as a \`data:\` URL.`;
  const detail = { publicMessage, param: param ?? undefined, isUnsent: true, isByRequest: true };
  throw new UpstreamError("rejected", "a link for a server that fetches none", detail);
}
