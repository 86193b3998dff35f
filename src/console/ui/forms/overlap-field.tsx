import { useTranslation } from "react-i18next";
import type { FieldProps } from "./field-frame.tsx";
import { SelectField } from "./select-field.tsx";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OVERLAPS = [0, HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS];

/** A day, which `OverlapField` offers. */
export const DEFAULT_OVERLAP = String(DAY_MS);

/** For how long a secret that is replaced stays valid: milliseconds as a text, at most `mostDays`. */
export function OverlapField({ mostDays, none, ...props }: FieldProps & { mostDays: number; none: string }) {
  const { t } = useTranslation();
  const nameOf = (ms: number) => {
    if (ms === 0) return none;
    return ms < DAY_MS
      ? t("overlap.hours", { count: ms / HOUR_MS })
      : t("overlap.days", { count: ms / DAY_MS });
  };
  const offered = OVERLAPS.filter((ms) => ms <= mostDays * DAY_MS);
  return <SelectField {...props} options={offered.map((ms) => ({ id: String(ms), label: nameOf(ms) }))} />;
}
