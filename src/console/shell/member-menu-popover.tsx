import { useNavigate } from "@tanstack/react-router";
import { Languages, LogOut, SunMoon, UserRound, type LucideIcon } from "lucide-react";
import { useState, type RefObject } from "react";
import { Menu, MenuItem, Separator, SubmenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import { useTranslation } from "react-i18next";
import { send } from "../api/call.ts";
import { queryClient } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { chooseLanguage } from "../texts/i18n.ts";
import { LANGUAGES } from "../texts/language.ts";
import { showProblem } from "../ui/overlay/toast.ts";
import { chooseTheme, currentTheme, THEMES } from "./theme.ts";

const ITEM =
  "flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 outline-none data-focused:bg-hover data-open:bg-hover";
const MENU = "min-w-52 p-1 outline-none";
const CHOICE_MENU = "min-w-36 p-1 outline-none";
const POPOVER = "animate-appear rounded-lg bg-raised shadow-popover";

/** The content of the member menu: account, theme, language, signing out. */
export function MemberMenuPopover({
  trigger,
  isOpen,
  onOpenChange,
}: {
  trigger: RefObject<HTMLButtonElement | null>;
  isOpen: boolean;
  onOpenChange(isOpen: boolean): void;
}) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const { name } = useSession();
  const [theme, setTheme] = useState(currentTheme);
  const signOut = async () => {
    await send("DELETE", "/session").catch(showProblem);
    await navigate({ to: "/sign-in" });
    queryClient.clear();
  };
  return (
    <Popover
      triggerRef={trigger}
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      placement="top start"
      className={POPOVER}
    >
      <Menu autoFocus="first" onClose={() => onOpenChange(false)} aria-label={name} className={MENU}>
        <MenuItem onAction={() => void navigate({ to: "/settings/account" })} className={ITEM}>
          <UserRound size={15} aria-hidden />
          {t("account")}
        </MenuItem>
        <Choice
          icon={SunMoon}
          label={t("theme")}
          chosen={theme}
          choices={THEMES.map((id) => ({ id, label: t(`theme.${id}`) }))}
          onChoose={(id) => {
            chooseTheme(id);
            setTheme(id);
          }}
        />
        <Choice
          icon={Languages}
          label={t("language")}
          chosen={i18n.language}
          choices={LANGUAGES}
          onChoose={(id) => void chooseLanguage(id)}
        />
        <Separator className="my-1 h-px bg-line" />
        <MenuItem onAction={() => void signOut()} className={ITEM}>
          <LogOut size={15} aria-hidden />
          {t("signOut")}
        </MenuItem>
      </Menu>
    </Popover>
  );
}

function Choice<Id extends string>({
  icon: Icon,
  label,
  chosen,
  choices,
  onChoose,
}: {
  icon: LucideIcon;
  label: string;
  chosen: string;
  choices: readonly { id: Id; label: string }[];
  onChoose(id: Id): void;
}) {
  return (
    <SubmenuTrigger>
      <MenuItem className={ITEM}>
        <Icon size={15} aria-hidden />
        <span className="flex-1">{label}</span>
        <span className="text-muted">{choices.find(({ id }) => id === chosen)?.label}</span>
      </MenuItem>
      <Popover className={POPOVER}>
        <Menu
          aria-label={label}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[chosen]}
          onSelectionChange={(keys) => {
            const next = choices.find(({ id }) => keys !== "all" && keys.has(id));
            if (next) onChoose(next.id);
          }}
          className={CHOICE_MENU}
        >
          {choices.map(({ id, label }) => (
            <MenuItem
              key={id}
              id={id}
              className={`${ITEM} data-selected:font-semibold data-selected:text-accent`}
            >
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </SubmenuTrigger>
  );
}
