/** What of a dry run's target decides who is called. */
interface RouteTarget {
  /** `channel/upstream-model`. */
  name: string;
  weight: number;
  /** Whether it is out of service now. */
  isEjected: boolean;
}

/** A target with what becomes of it when some are down. */
export type SupposedTarget<Target> = Target & {
  isDown: boolean;
  /** Part of the requests that call it first, from 0 to 1. */
  share: number;
};

/**
 * A route's targets in the order of calls, some of which are supposed to be down as if they were ejected. The rules are
 * those of the gateway's own dry run: in order, the first that works; by weight, shares among those that work.
 */
export function suppose<Target extends RouteTarget>(
  targets: readonly Target[],
  strategy: "ordered" | "weighted",
  down: ReadonlySet<string>,
): SupposedTarget<Target>[] {
  const isDown = ({ name, isEjected }: Target) => isEjected || down.has(name);
  const working = targets.filter((target) => !isDown(target));
  const total = working.reduce((sum, { weight }) => sum + weight, 0);
  const shareOf = (target: Target): number => {
    if (isDown(target)) return 0;
    return strategy === "weighted" ? target.weight / total : Number(target === working[0]);
  };
  return targets.map((target) => ({ ...target, isDown: isDown(target), share: shareOf(target) }));
}
