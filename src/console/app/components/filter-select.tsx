import { ChevronDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { Label } from "react-aria-components/Label";
import { Select, SelectValue } from "react-aria-components/Select";
import { useTranslation } from "react-i18next";
import type { Option } from "../lib/options.ts";
import { useFilters } from "../lib/search.ts";
import { OptionsList } from "./fields/options-list.tsx";

const ALL = "";

/** A filter in the address, under `name`: one of the options, or all; always one of them where `usual` is given. */
export function FilterSelect({
  name,
  label,
  options,
  usual,
}: {
  name: string;
  label: string;
  options: readonly Option[];
  usual?: string;
}) {
  const { t } = useTranslation();
  const { filters, change } = useFilters();
  const current = filters[name] ?? usual ?? ALL;
  return (
    <Select
      value={current}
      onChange={(id) => change({ [name]: id === (usual ?? ALL) ? undefined : String(id) })}
      className="inline-flex h-8 max-w-72 items-center rounded-md border border-line-strong bg-surface hover:bg-hover max-sm:h-10"
    >
      <Label className="pl-2.5 whitespace-nowrap text-muted">{label}</Label>
      <Button className="inline-flex h-full min-w-0 items-center gap-1.5 rounded-md px-2 -outline-offset-2!">
        <SelectValue<Option> className="truncate font-medium">
          {({ selectedItems }) => selectedItems[0]?.label ?? current}
        </SelectValue>
        <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
      </Button>
      <OptionsList options={usual === undefined ? [{ id: ALL, label: t("all") }, ...options] : options} />
    </Select>
  );
}
