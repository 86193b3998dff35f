import { CalendarRange } from "lucide-react";
import { useState } from "react";
import { Dialog as AriaDialog, DialogTrigger } from "react-aria-components/Dialog";
import { Button as AriaButton } from "react-aria-components/Button";
import { Popover } from "react-aria-components/Popover";
import { useTranslation } from "react-i18next";
import { formatDay } from "../lib/format.ts";
import { RANGES, useRange, type Range, type RangeName } from "../lib/range.ts";
import { useFilters } from "../lib/search.ts";
import { Button } from "./button.tsx";
import { INPUT } from "./fields/field-frame.tsx";

/** Chooses the range in the address; `useRange` reads it. */
export function RangePicker({ usual = "24h" }: { usual?: RangeName }) {
  const { t } = useTranslation();
  const { change } = useFilters();
  const range = useRange(usual);
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
      <DialogTrigger>
        <AriaButton
          aria-pressed={range.name === "custom"}
          className={`${choice} inline-flex items-center gap-1.5`}
        >
          <CalendarRange size={14} aria-hidden />
          {range.name === "custom"
            ? `${formatDay(Date.parse(range.from))} – ${formatDay(Date.parse(range.to) - 1)}`
            : t("range.custom")}
        </AriaButton>
        <Popover placement="bottom end" className="animate-appear rounded-lg bg-raised shadow-popover">
          <AriaDialog aria-label={t("range.custom")} className="p-4 outline-none">
            {({ close }) => <CustomRange range={range} onDone={close} />}
          </AriaDialog>
        </Popover>
      </DialogTrigger>
    </div>
  );
}

function CustomRange({ range, onDone }: { range: Range; onDone(): void }) {
  const { t } = useTranslation();
  const { change } = useFilters();
  const [from, setFrom] = useState(range.from.slice(0, 10));
  const [to, setTo] = useState(range.to.slice(0, 10));
  const isRight = from !== "" && to !== "" && from <= to;
  const apply = () => {
    const end = new Date(`${to}T00:00:00Z`);
    end.setUTCDate(end.getUTCDate() + 1);
    change({ range: undefined, from: `${from}T00:00:00.000Z`, to: end.toISOString() });
    onDone();
  };
  return (
    <div className="flex w-60 flex-col gap-3">
      <label className="flex flex-col gap-1 font-medium">
        {t("range.from")}
        <input
          type="date"
          value={from}
          max={to}
          onChange={(event) => setFrom(event.target.value)}
          className={INPUT}
        />
      </label>
      <label className="flex flex-col gap-1 font-medium">
        {t("range.to")}
        <input
          type="date"
          value={to}
          min={from}
          onChange={(event) => setTo(event.target.value)}
          className={INPUT}
        />
      </label>
      <p className="text-xs text-muted">UTC</p>
      <Button kind="primary" isDisabled={!isRight} onPress={apply}>
        {t("apply")}
      </Button>
    </div>
  );
}
