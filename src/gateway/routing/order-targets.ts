import type { Route, Target } from "../../domain/channel.ts";

/**
 * Returns a route's targets in calling order: as listed, or by weight, where each position is chosen at random from the
 * remaining targets. `random` returns numbers from 0 up to 1.
 */
export function orderTargets({ strategy, targets }: Route, random: () => number): readonly Target[] {
  if (strategy === "ordered" || targets.length === 1) return targets;
  const left = [...targets];
  const order: Target[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, target) => sum + target.weight, 0);
    let point = random() * total;
    const index = left.findIndex((target) => (point -= target.weight) < 0);
    order.push(...left.splice(Math.max(index, 0), 1));
  }
  return order;
}
