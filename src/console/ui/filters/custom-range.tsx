import { useState, type RefObject } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Popover } from "react-aria-components/Popover";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { Button } from "../forms/button.tsx";
import { INPUT } from "../forms/field-class.ts";
import { dayOf, startOfDay, zoneName } from "../text/zone.ts";
import type { Range } from "./range.ts";

/** Chooses the first and the last day of a range. The range includes both days. */
export function CustomRange({
  trigger,
  range,
  onClose,
}: {
  trigger: RefObject<HTMLButtonElement | null>;
  range: Range;
  onClose(): void;
}) {
  const { t } = useTranslation();
  const { change } = useFilters();
  const [from, setFrom] = useState(dayOf(Date.parse(range.from)));
  const [to, setTo] = useState(dayOf(Date.parse(range.to) - 1));
  const isRight = from !== "" && to !== "" && from <= to;
  const apply = () => {
    const [start, end] = [startOfDay(from), startOfDay(to, 1)];
    change({ range: undefined, from: new Date(start).toISOString(), to: new Date(end).toISOString() });
    onClose();
  };
  return (
    <Popover
      triggerRef={trigger}
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      placement="bottom end"
      className="animate-appear rounded-lg bg-raised shadow-popover"
    >
      <AriaDialog aria-label={t("range.custom")} className="p-4 outline-none">
        <div className="flex w-60 flex-col gap-3">
          <Day label={t("range.from")} value={from} max={to} onChange={setFrom} />
          <Day label={t("range.to")} value={to} min={from} onChange={setTo} />
          <p className="text-xs text-muted">{zoneName()}</p>
          <Button kind="primary" isDisabled={!isRight} onPress={apply}>
            {t("apply")}
          </Button>
        </div>
      </AriaDialog>
    </Popover>
  );
}

function Day({
  label,
  onChange,
  ...range
}: {
  label: string;
  value: string;
  min?: string;
  max?: string;
  onChange(day: string): void;
}) {
  return (
    <label className="flex flex-col gap-1 font-medium">
      {label}
      <input type="date" {...range} onChange={(event) => onChange(event.target.value)} className={INPUT} />
    </label>
  );
}
