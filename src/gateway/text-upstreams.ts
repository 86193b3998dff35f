import type { TextDialectName } from "../dialects/name.ts";
import type { Target } from "../domain/channel.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TextUpstream, Upstreams } from "./ports.ts";

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
  const all = textUpstreams(upstreams, target);
  const upstream = all.find((each) => each.dialect === dialect) ?? all[0];
  if (!upstream) throw new UpstreamError("account", `channel ${target.channel.id} does not serve text`);
  return upstream;
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
  const speaks = (target: Target): boolean =>
    textUpstreams(upstreams, target).some((each) => each.dialect === dialect);
  if (targets.length === 1 || targets.every(speaks)) return targets;
  return [...targets.filter(speaks), ...targets.filter((target) => !speaks(target))];
}
