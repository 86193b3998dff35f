import type { ReactNode } from "react";

/** Style of a button in `Segments`. `aria-pressed` marks the chosen button. */
export const SEGMENT =
  "rounded px-2.5 py-1 text-xs font-medium whitespace-nowrap text-muted hover:text-text aria-pressed:bg-surface aria-pressed:text-text aria-pressed:shadow-sm max-sm:py-2";

/** A group of buttons of which one is pressed. The pressed button decides what the content below shows. */
export function Segments<Id extends string>({
  label,
  segments,
  chosen,
  onChoose,
  children,
}: {
  label: string;
  segments: readonly { id: Id; label: string }[];
  chosen: string;
  onChoose(id: Id): void;
  /** Buttons in the style of `SEGMENT`, after the buttons of `segments`. */
  children?: ReactNode;
}) {
  return (
    <div
      role="group"
      aria-label={label}
      className="flex max-w-full gap-1 overflow-x-auto rounded-md bg-sunken p-1"
    >
      {segments.map(({ id, label }) => (
        <button
          key={id}
          type="button"
          aria-pressed={id === chosen}
          onClick={() => onChoose(id)}
          className={SEGMENT}
        >
          {label}
        </button>
      ))}
      {children}
    </div>
  );
}
