import { lazy, Suspense, useRef, useState } from "react";
import { Button } from "react-aria-components/Button";
import { useTranslation } from "react-i18next";
import { useSession } from "../api/session.ts";

const loadMenu = () => import("./member-menu-popover.tsx");
const MemberMenuPopover = lazy(async () => ({ default: (await loadMenu()).MemberMenuPopover }));

/** A button with the signed-in member's name. Pressing it loads and opens the member menu. */
export function MemberMenu() {
  const { t } = useTranslation();
  const { name, role } = useSession();
  const trigger = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const open = () => {
    setWasOpened(true);
    setOpen(true);
  };
  return (
    <>
      <Button
        ref={trigger}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPress={open}
        onHoverStart={() => void loadMenu()}
        className="flex h-10 w-full items-center gap-2.5 rounded-md px-2.5 text-left hover:bg-hover max-sm:h-12"
      >
        <span
          aria-hidden
          className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
        >
          {name.slice(0, 1).toUpperCase()}
        </span>
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{name}</span>
          <span className="block truncate text-xs leading-4 text-muted">{t(`role.${role}`)}</span>
        </span>
      </Button>
      {wasOpened && (
        <Suspense>
          <MemberMenuPopover trigger={trigger} isOpen={isOpen} onOpenChange={setOpen} />
        </Suspense>
      )}
    </>
  );
}
