import { CalendarRange } from "lucide-react";
import { lazy, Suspense, useRef, useState } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { SEGMENT, Segments } from "../forms/segments.tsx";
import { formatDay, formatMoment } from "../text/format.ts";
import { chooseZone, currentZone, dayOf, startOfDay, zoneName } from "../text/zone.ts";
import { RANGES, useRange, type Range, type RangeName } from "./range.ts";

const CustomRange = lazy(async () => ({ default: (await import("./custom-range.tsx")).CustomRange }));

/** Chooses the range in the address, which `useRange` reads, and the time zone in which times are shown. */
export function RangePicker({ usual = "24h" }: { usual?: RangeName }) {
  const { t } = useTranslation();
  const { change } = useFilters();
  const range = useRange(usual);
  const trigger = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <Segments
      label={t("range")}
      segments={RANGES.map((id) => ({ id, label: t(`range.${id}`) }))}
      chosen={range.name}
      onChoose={(name) =>
        change({ range: name === usual ? undefined : name, from: undefined, to: undefined })
      }
    >
      <AriaButton
        ref={trigger}
        aria-haspopup="dialog"
        aria-pressed={range.name === "custom"}
        onPress={() => setOpen(true)}
        className={`${SEGMENT} inline-flex items-center gap-1.5`}
      >
        <CalendarRange size={14} aria-hidden />
        {range.name === "custom" ? nameOf(range) : t("range.custom")}
      </AriaButton>
      <AriaButton
        aria-label={t("zone", { name: zoneName() })}
        aria-pressed={currentZone() === "local"}
        onPress={() => chooseZone(currentZone() === "utc" ? "local" : "utc")}
        className={`${SEGMENT} text-xs`}
      >
        {currentZone() === "utc" ? "UTC" : t("zone.local")}
      </AriaButton>
      {isOpen && (
        <Suspense>
          <CustomRange trigger={trigger} range={range} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Segments>
  );
}

/** Returns the range as whole days if possible, otherwise with minutes. */
function nameOf({ from, to }: Range): string {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const isOfDays = [start, end].every((at) => startOfDay(dayOf(at)) === at);
  return isOfDays
    ? `${formatDay(start, zoneName())} – ${formatDay(end - 1, zoneName())}`
    : `${formatMoment(start)} – ${formatMoment(end)}`;
}
