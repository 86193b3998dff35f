import { type Route, type Target, targetName } from "../../domain/channel.ts";
import type { TargetReasoning } from "../../domain/model.ts";
import { orderTargets } from "../../gateway/routing/target-queue.ts";
import type { Ejection } from "../../gateway/routing/health.ts";

/** A target of a route in a dry run. */
export interface ExplainedTarget {
  /** `channel/upstream-model`. */
  name: string;
  channel: string;
  provider: string;
  upstreamModel: string;
  weight: number;
  reasoning: TargetReasoning | undefined;
  /** Share of the requests that call this target first, from 0 to 1, considering ejections. */
  share: number;
  /** The ejection that makes routing skip the target; null when the target is not skipped. */
  ejection: Ejection | null;
}

/** Returns a route's targets in the order of calls. For `weighted`, the most likely first. */
export function explainTargets(route: Route, health: readonly Ejection[]): ExplainedTarget[] {
  // With a random number of 0 the targets keep the order in which they are listed.
  const order = orderTargets(route, () => 0).map((target) => ({
    target,
    ejection: ejectionOf(target, health),
  }));
  const available = order.filter(({ ejection }) => !ejection).map(({ target }) => target);
  const total = available.reduce((sum, { weight }) => sum + weight, 0);
  const shareOf = (target: Target): number => {
    if (!available.includes(target)) return 0;
    return route.strategy === "weighted" ? target.weight / total : Number(target === available[0]);
  };
  const targets = order.map(({ target, ejection }) => ({
    name: targetName(target),
    channel: target.channel.id,
    provider: target.channel.provider,
    upstreamModel: target.upstreamModel,
    weight: target.weight,
    reasoning: target.reasoning,
    share: shareOf(target),
    ejection,
  }));
  return route.strategy === "weighted" ? targets.toSorted((one, other) => other.share - one.share) : targets;
}

/** Returns the ejection of a target; null after the ejection, because the next request then probes the target. */
function ejectionOf(target: Target, health: readonly Ejection[]): Ejection | null {
  return health.find((each) => each.target === targetName(target) && each.durationMs > 0) ?? null;
}

/** Returns one sentence about the target that would serve the request. */
export function verdictOn(targets: readonly ExplainedTarget[]): string {
  const first = targets.filter(({ share }) => share > 0);
  if (first.length === 0) {
    const waitMs = Math.min(...targets.map(({ ejection }) => ejection?.durationMs ?? 0));
    return `Nothing would be sent: every target is ejected, the first for another ${Math.ceil(waitMs / 1000)} s.`;
  }
  const answering = first
    .map(({ name, share }) => (share === 1 ? name : `${name} (${percent(share)})`))
    .join(" or ");
  const later = targets.filter(({ share, ejection }) => share === 0 && !ejection).map(({ name }) => name);
  const ejected = targets.filter(({ ejection }) => ejection).map(({ name }) => name);
  const fallbacks =
    first.length > 1
      ? ", each falling over to the others"
      : later.length > 0
        ? `, then ${later.join(", then ")}`
        : "";
  const passedOver =
    ejected.length > 0 ? `; ${ejected.join(" and ")} ${ejected.length === 1 ? "is" : "are"} ejected` : "";
  return `${answering} would answer${fallbacks}${passedOver}.`;
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
