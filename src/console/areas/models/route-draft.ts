/** A target as the route editor writes it. */
export interface DraftTarget {
  channel: string;
  /** The vendor's name of the model. */
  upstreamModel: string;
  weight: number;
}

/** A route as the editor writes it. */
export interface RouteDraft {
  strategy: "ordered" | "weighted";
  targets: DraftTarget[];
}

/** As in health, logs and metrics. */
export function targetName({
  channel,
  upstreamModel,
}: Pick<DraftTarget, "channel" | "upstreamModel">): string {
  return `${channel}/${upstreamModel}`;
}

/** The list with some of its targets, by name, moved before or after another one. */
export function reordered(
  targets: readonly DraftTarget[],
  names: ReadonlySet<string>,
  { to, position }: { to: string; position: "before" | "after" },
): DraftTarget[] {
  const moved = targets.filter((target) => names.has(targetName(target)));
  const rest = targets.filter((target) => !names.has(targetName(target)));
  const found = rest.findIndex((target) => targetName(target) === to);
  if (found < 0) return [...targets];
  return rest.toSpliced(position === "before" ? found : found + 1, 0, ...moved);
}

/** The list with one target a step up (-1) or down (1). */
export function stepped(targets: readonly DraftTarget[], index: number, step: -1 | 1): DraftTarget[] {
  const target = targets[index];
  const other = targets[index + step];
  if (!target || !other) return [...targets];
  return targets.with(index, other).with(index + step, target);
}

/** Part of the requests that call each target first while all of them work, from 0 to 1. */
export function sharesOf({ strategy, targets }: RouteDraft): number[] {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  return targets.map(({ weight }, index) =>
    strategy === "weighted" ? weight / Math.max(1, total) : Number(index === 0),
  );
}
