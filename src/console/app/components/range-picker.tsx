import { CalendarRange } from "lucide-react";
import { lazy, Suspense, useRef, useState } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { useTranslation } from "react-i18next";
import { formatDay } from "../lib/format.ts";
import { RANGES, useRange, type RangeName } from "../lib/range.ts";
import { useFilters } from "../lib/search.ts";

const CustomRange = lazy(async () => ({ default: (await import("./custom-range.tsx")).CustomRange }));

/** Chooses the range in the address; `useRange` reads it. */
export function RangePicker({ usual = "24h" }: { usual?: RangeName }) {
  const { t } = useTranslation();
  const { change } = useFilters();
  const range = useRange(usual);
  const trigger = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const choice =
    "rounded px-2.5 py-1 text-xs font-medium whitespace-nowrap text-muted hover:text-text aria-pressed:bg-surface aria-pressed:text-text aria-pressed:shadow-sm max-sm:py-2";
  return (
    <div
      role="group"
      aria-label={t("range")}
      className="flex max-w-full gap-1 overflow-x-auto rounded-md bg-sunken p-1"
    >
      {RANGES.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={range.name === name}
          className={choice}
          onClick={() => change({ range: name === usual ? undefined : name, from: undefined, to: undefined })}
        >
          {t(`range.${name}`)}
        </button>
      ))}
      <AriaButton
        ref={trigger}
        aria-haspopup="dialog"
        aria-pressed={range.name === "custom"}
        onPress={() => setOpen(true)}
        className={`${choice} inline-flex items-center gap-1.5`}
      >
        <CalendarRange size={14} aria-hidden />
        {range.name === "custom"
          ? `${formatDay(Date.parse(range.from))} – ${formatDay(Date.parse(range.to) - 1)}`
          : t("range.custom")}
      </AriaButton>
      {isOpen && (
        <Suspense>
          <CustomRange trigger={trigger} range={range} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}
