import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** Shown in place of an empty list: one sentence and, if given, one action to take next. */
export function EmptyState({
  icon: Icon,
  children,
  action,
}: {
  icon?: LucideIcon;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-4 px-6 py-14 text-center">
      {Icon && <Icon size={24} aria-hidden className="text-muted" />}
      <p className="max-w-prose text-muted">{children}</p>
      {action}
    </div>
  );
}
