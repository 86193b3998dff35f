import { CircleCheck, CircleDashed, CircleMinus, LoaderCircle, OctagonX, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

export type StatusLevel = "good" | "warn" | "bad" | "busy" | "off" | "unknown";

/** Icon and colours of each level. The icons differ in shape, so that users recognize a level without its colour. */
const LEVELS = {
  good: { icon: CircleCheck, look: "bg-good-soft text-good" },
  warn: { icon: TriangleAlert, look: "bg-warn-soft text-warn" },
  bad: { icon: OctagonX, look: "bg-bad-soft text-bad" },
  busy: { icon: LoaderCircle, look: "bg-accent-soft text-accent" },
  off: { icon: CircleMinus, look: "bg-sunken text-muted" },
  unknown: { icon: CircleDashed, look: "bg-sunken text-muted" },
} as const;

export function Status({ level, children }: { level: StatusLevel; children: ReactNode }) {
  const { icon: Icon, look } = LEVELS[level];
  return (
    <span
      className={`inline-flex w-fit max-w-full items-center gap-1.5 rounded-full py-0.5 pr-2.5 pl-2 text-xs font-medium ${look}`}
    >
      <Icon size={13} aria-hidden className="shrink-0" />
      <span className="truncate">{children}</span>
    </span>
  );
}
