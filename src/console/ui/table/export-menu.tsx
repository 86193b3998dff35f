import { Download } from "lucide-react";
import { Menu, MenuItem, MenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import { useTranslation } from "react-i18next";
import { renderSearch } from "../../address.ts";
import { Button } from "../forms/button.tsx";

const FORMATS = [
  { format: "csv", label: "CSV" },
  { format: "json", label: "JSON" },
] as const;

/** Downloads the rows of a list that match a filter, and not only the rows read so far. */
export function ExportMenu({
  of,
  filter,
}: {
  of: "ledger" | "usage" | "requests" | "audit" | "keys";
  filter: Readonly<Record<string, unknown>>;
}) {
  const { t } = useTranslation();
  const fields = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null);
  const texts = Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
  return (
    <MenuTrigger>
      <Button icon={Download}>{t("export")}</Button>
      <Popover placement="bottom end" className="min-w-32 animate-appear rounded-lg bg-raised shadow-popover">
        <Menu aria-label={t("export")} className="p-1 outline-none">
          {FORMATS.map(({ format, label }) => (
            <MenuItem
              key={format}
              href={`/admin/v1/export/${of}${renderSearch({ ...texts, format })}`}
              download
              className="block cursor-pointer rounded-md px-2 py-1.5 outline-none data-focused:bg-hover"
            >
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
