export interface DraftTarget {
  channel: string;
  /** The vendor's name of the model. */
  upstreamModel: string;
  weight: number;
}

export interface RouteDraft {
  strategy: "ordered" | "weighted";
  targets: DraftTarget[];
}

/** Returns a target's name in the form that health, logs and metrics use. */
export function targetName({
  channel,
  upstreamModel,
}: Pick<DraftTarget, "channel" | "upstreamModel">): string {
  return `${channel}/${upstreamModel}`;
}

/** Returns each target's share of the requests, from 0 to 1, when all targets work. */
export function sharesOf({ strategy, targets }: RouteDraft): number[] {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  return targets.map(({ weight }, index) =>
    strategy === "weighted" ? weight / Math.max(1, total) : Number(index === 0),
  );
}

/** The fields of a dry run's target that decide if and when the target is called. */
interface RouteTarget {
  /** Name in the form `channel/upstream-model`. */
  name: string;
  weight: number;
  /** True while the target is out of service. */
  isEjected: boolean;
}

/** A target, and its share of the requests while some targets are down. */
export type SimulatedTarget<Target> = Target & {
  isDown: boolean;
  /** Share of the requests for which this target is called first, from 0 to 1. */
  share: number;
};

/**
 * Returns a route's targets, each with its share of the requests, as if the targets in `down` were ejected. Follows the
 * rules of the gateway's own dry run. In an ordered route, the first working target is called. In a weighted route, the
 * working targets share the requests.
 */
export function simulateRoute<Target extends RouteTarget>(
  targets: readonly Target[],
  strategy: "ordered" | "weighted",
  down: ReadonlySet<string>,
): SimulatedTarget<Target>[] {
  const isDown = ({ name, isEjected }: Target) => isEjected || down.has(name);
  const working = targets.filter((target) => !isDown(target));
  const total = working.reduce((sum, { weight }) => sum + weight, 0);
  const shareOf = (target: Target): number => {
    if (isDown(target)) return 0;
    return strategy === "weighted" ? target.weight / total : Number(target === working[0]);
  };
  return targets.map((target) => ({ ...target, isDown: isDown(target), share: shareOf(target) }));
}
