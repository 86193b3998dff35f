import { ChevronDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { Select, SelectValue } from "react-aria-components/Select";
import { useTranslation } from "react-i18next";
import type { Option } from "../lib/options.ts";
import { useFilters } from "../lib/search.ts";
import { OptionsList } from "./fields/options-list.tsx";

const ALL = "";

/** A filter in the address, under `name`: one of the options, or all. */
export function FilterSelect({
  name,
  label,
  options,
}: {
  name: string;
  label: string;
  options: readonly Option[];
}) {
  const { t } = useTranslation();
  const { filters, change } = useFilters();
  const current = filters[name] ?? ALL;
  return (
    <Select
      aria-label={label}
      value={current}
      onChange={(id) => change({ [name]: id === ALL ? undefined : String(id) })}
    >
      <Button className="inline-flex h-8 max-w-60 items-center gap-1.5 rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover max-sm:h-10">
        <span className="text-muted">{label}</span>
        <SelectValue className="truncate font-medium" />
        <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
      </Button>
      <OptionsList options={[{ id: ALL, label: t("all") }, ...options]} />
    </Select>
  );
}
