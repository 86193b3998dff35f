import { Check, Columns3 } from "lucide-react";
import { useState } from "react";
import { Menu, MenuItem, MenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import { useTranslation } from "react-i18next";
import { IconButton } from "../forms/button.tsx";
import type { Screen } from "./screen.ts";

/** Chooses the visible columns of a table. The first column is always visible. */
export function ColumnChoice({
  columns,
  visible,
  onChange,
}: {
  columns: readonly ChoosableColumn[];
  visible: Record<string, boolean>;
  onChange(visible: Record<string, boolean>): void;
}) {
  const { t } = useTranslation();
  const choosable = columns.slice(1).filter(({ isAction }) => !isAction);
  return (
    <MenuTrigger>
      <IconButton icon={Columns3} label={t("columns")} />
      <Popover placement="bottom end" className="min-w-48 animate-appear rounded-lg bg-raised shadow-popover">
        <Menu
          aria-label={t("columns")}
          selectionMode="multiple"
          selectedKeys={choosable.filter(({ id }) => visible[id]).map(({ id }) => id)}
          onSelectionChange={(keys) =>
            onChange(Object.fromEntries(choosable.map(({ id }) => [id, keys === "all" || keys.has(id)])))
          }
          className="max-h-80 overflow-auto p-1 outline-none"
        >
          {choosable.map(({ id, header }) => (
            <MenuItem
              key={id}
              id={id}
              className="group flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none data-focused:bg-hover"
            >
              <Check size={14} aria-hidden className="invisible group-data-selected:visible" />
              {header}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

interface ChoosableColumn {
  id: string;
  header: string;
  isOptional?: boolean;
  isAction?: boolean;
  phone?: string;
}

/** Returns the visible columns of a table, as chosen in this browser, and a function that changes the choice. */
export function useVisibleColumns(
  table: string,
  columns: readonly ChoosableColumn[],
  screen: Screen,
): [Record<string, boolean>, (visible: Record<string, boolean>) => void] {
  const stored = `gateway.columns.${table}`;
  const [chosen, setChosen] = useState<Record<string, boolean>>(() =>
    JSON.parse(localStorage.getItem(stored) ?? "{}"),
  );
  const visible = Object.fromEntries(
    columns.map((column, index) => [
      column.id,
      index === 0 || column.isAction === true || (chosen[column.id] ?? isUsual(column, screen)),
    ]),
  );
  const choose = (visible: Record<string, boolean>) => {
    localStorage.setItem(stored, JSON.stringify(visible));
    setChosen(visible);
  };
  return [visible, choose];
}

/** True for a column that is shown on a screen when the user has not chosen the columns. */
function isUsual({ phone, isOptional }: ChoosableColumn, screen: Screen): boolean {
  if (screen === "phone") return phone !== undefined;
  return screen === "wide" || isOptional !== true;
}
