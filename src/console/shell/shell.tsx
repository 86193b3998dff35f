import { Outlet } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { Button } from "react-aria-components/Button";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../api/options.ts";
import { SESSION_ENDED } from "../api/session-end.ts";
import { IconButton } from "../ui/forms/button.tsx";
import { Skeleton } from "../ui/page/skeleton.tsx";
import { FRAME } from "./frame.tsx";
import { Mark } from "./mark.tsx";
import { MemberMenu } from "./member-menu.tsx";
import { Navigation } from "./navigation.tsx";

const CommandPalette = lazy(async () => ({
  default: (await import("./command-palette.tsx")).CommandPalette,
}));

const SessionDialog = lazy(async () => ({
  default: (await import("../areas/sign-in/session-dialog.tsx")).SessionDialog,
}));
const PhoneMenu = lazy(async () => ({ default: (await import("./phone-menu.tsx")).PhoneMenu }));
const OrganizationPicker = lazy(async () => ({
  default: (await import("./organization-picker.tsx")).OrganizationPicker,
}));

/** The frame of the console: the page, with the navigation at its left, or behind a button on a phone. */
export function Shell() {
  const { t } = useTranslation();
  const [isSearching, setSearching] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setSearching(true);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
  const search = () => {
    setMenuOpen(false);
    setSearching(true);
  };
  return (
    <div className={FRAME.page}>
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent-solid px-4 py-2 text-white focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {t("skip")}
      </a>
      <aside className={FRAME.side}>
        <Sidebar onSearch={search} />
      </aside>
      <header className={FRAME.top}>
        <IconButton icon={MenuIcon} label={t("nav")} onPress={() => setMenuOpen(true)} />
        <span className={FRAME.topProduct}>{t("product")}</span>
        <IconButton icon={Search} label={t("palette")} onPress={search} />
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 outline-none!">
        <Outlet />
      </main>
      {isMenuOpen && (
        <Suspense>
          <PhoneMenu label={t("nav")} onClose={() => setMenuOpen(false)}>
            <Sidebar onSearch={search} onNavigate={() => setMenuOpen(false)} />
          </PhoneMenu>
        </Suspense>
      )}
      <SessionEnd />
      {isSearching && (
        <Suspense>
          <CommandPalette onClose={() => setSearching(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Asks the member to sign in again when a call has found that the session has ended. */
function SessionEnd() {
  const [hasEnded, setEnded] = useState(false);
  useEffect(() => {
    const onEnded = () => setEnded(true);
    window.addEventListener(SESSION_ENDED, onEnded);
    return () => window.removeEventListener(SESSION_ENDED, onEnded);
  }, []);
  if (!hasEnded) return null;
  return (
    <Suspense>
      <SessionDialog onClose={() => setEnded(false)} />
    </Suspense>
  );
}

function Sidebar({ onSearch, onNavigate }: { onSearch(): void; onNavigate?: () => void }) {
  const { t } = useTranslation();
  const organizations = useOrganizationOptions();
  return (
    <div className={FRAME.sideContent}>
      <p className={FRAME.product}>
        <Mark />
        {t("product")}
      </p>
      {organizations.length > 1 && (
        <Suspense fallback={<Skeleton className="h-9 w-full shrink-0" />}>
          <OrganizationPicker options={organizations} />
        </Suspense>
      )}
      <Button
        onPress={onSearch}
        className="flex h-8 items-center gap-2.5 rounded-md border border-line bg-surface px-2.5 text-muted hover:bg-hover max-sm:h-11"
      >
        <Search size={16} aria-hidden className="shrink-0" />
        <span className="min-w-0 flex-1 truncate text-left">{t("palette.open")}</span>
        <kbd className="rounded border border-line px-1 text-xs max-md:hidden">
          {navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"}
        </kbd>
      </Button>
      <div className="flex-1">
        <Navigation {...(onNavigate && { onNavigate })} />
      </div>
      <MemberMenu />
    </div>
  );
}
