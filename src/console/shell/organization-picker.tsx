import { Building2, ChevronsUpDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { Select, SelectValue } from "react-aria-components/Select";
import { useTranslation } from "react-i18next";
import type { Option } from "../api/options.ts";
import { useOrganization } from "../api/organization.ts";
import { OptionsList } from "../ui/forms/options-list.tsx";

const ALL = "";

/** Chooses the organization whose data all pages show. */
export function OrganizationPicker({ options }: { options: readonly Option[] }) {
  const { t } = useTranslation();
  const { id, choose } = useOrganization();
  return (
    <Select
      aria-label={t("organization")}
      value={id ?? ALL}
      onChange={(id) => choose(id === ALL ? null : String(id))}
    >
      <Button className="flex h-9 w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-left hover:bg-hover max-sm:h-11">
        <Building2 size={16} aria-hidden className="shrink-0 text-muted" />
        <SelectValue<Option> className="min-w-0 flex-1 truncate font-medium">
          {({ selectedItems }) => selectedItems[0]?.label ?? t("organization.all")}
        </SelectValue>
        <ChevronsUpDown size={14} aria-hidden className="shrink-0 text-muted" />
      </Button>
      <OptionsList options={[{ id: ALL, label: t("organization.all") }, ...options]} />
    </Select>
  );
}
