import { Ellipsis, type LucideIcon } from "lucide-react";
import { Menu, MenuItem, MenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import { useTranslation } from "react-i18next";
import { IconButton } from "../forms/button.tsx";

export interface Action {
  label: string;
  icon?: LucideIcon;
  isDangerous?: boolean;
  onAction(): void;
}

/** A menu of the actions on one record, opened by a button with three dots. Shows nothing when there are no actions. */
export function ActionMenu({ label, actions }: { label?: string; actions: readonly Action[] }) {
  const { t } = useTranslation();
  if (actions.length === 0) return null;
  return (
    <MenuTrigger>
      <IconButton icon={Ellipsis} label={label ?? t("actions")} />
      <Popover placement="bottom end" className="min-w-44 animate-appear rounded-lg bg-raised shadow-popover">
        <Menu aria-label={label ?? t("actions")} className="p-1 outline-none">
          {actions.map(({ label, icon: Icon, isDangerous, onAction }) => (
            <MenuItem
              key={label}
              onAction={onAction}
              className={`flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none data-focused:bg-hover ${isDangerous ? "text-bad" : ""}`}
            >
              {Icon && <Icon size={14} aria-hidden />}
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
