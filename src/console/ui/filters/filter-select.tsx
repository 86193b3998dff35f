import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Option } from "../../api/options.ts";
import { ChoiceSelect } from "../forms/choice-select.tsx";

const ALL = "";

/**
 * A filter, stored in the address under `name`: one of the options, or all. With `usual`, one option is always chosen.
 */
export function FilterSelect({
  name,
  label,
  options,
  usual,
  onSearch,
}: {
  name: string;
  label: string;
  options: readonly Option[];
  usual?: string;
  /** Called with the typed text; set only when `options` may not contain every option. */
  onSearch?: (typed: string) => void;
}) {
  const { t } = useTranslation();
  const { filters, change } = useFilters();
  return (
    <ChoiceSelect
      label={label}
      options={usual === undefined ? [{ id: ALL, label: t("all") }, ...options] : options}
      onSearch={onSearch}
      value={filters[name] ?? usual ?? ALL}
      onChange={(id) => change({ [name]: id === (usual ?? ALL) ? undefined : id })}
    />
  );
}
