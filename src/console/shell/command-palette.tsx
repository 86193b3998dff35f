import { useNavigate, type LinkProps } from "@tanstack/react-router";
import { Boxes, KeyRound, ScrollText, Search, type LucideIcon } from "lucide-react";
import { useEffect, useState, type KeyboardEvent } from "react";
import { Autocomplete, useFilter } from "react-aria-components/Autocomplete";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Input } from "react-aria-components/Input";
import { Menu, MenuItem } from "react-aria-components/Menu";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { SearchField } from "react-aria-components/SearchField";
import { useTranslation } from "react-i18next";
import { useKeySearch, useModelOptions } from "../api/options.ts";
import { useMayRead } from "../api/page-needs.ts";
import { useAreaPages } from "./area-tabs.tsx";
import { AREAS } from "./navigation.tsx";

interface Entry {
  id: string;
  icon: LucideIcon;
  label: string;
  detail: string;
  go(): void;
}

/** Matches a text that may be the id of a request. This pattern is used when the text matches nothing else. */
const REQUEST_ID = /^[\w-]{12,128}$/;
const MAX_ENTRIES = 50;

/** Finds pages, keys and models by name, and a request by its id. */
export function CommandPalette({ onClose }: { onClose(): void }) {
  const { t } = useTranslation();
  const { contains } = useFilter({ sensitivity: "base" });
  const [typed, setTyped] = useState("");
  const entries = useEntries(typed.trim());
  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.go();
  };
  // When no entry has the focus, Enter opens the first one: keys and models may arrive after the user has typed, and
  // the focused entry may have disappeared.
  const onKeyDown = ({ key, currentTarget }: KeyboardEvent<HTMLInputElement>) => {
    if (key !== "Enter") return;
    const active = currentTarget.getAttribute("aria-activedescendant");
    if (active === null || document.getElementById(active) === null) go(entries[0]);
  };
  return (
    <ModalOverlay
      isDismissable
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className="fixed inset-0 z-40 flex items-start justify-center bg-black/40 p-3 pt-[12vh]"
    >
      <Modal className="w-full max-w-xl animate-appear">
        <AriaDialog
          aria-label={t("palette")}
          className="flex max-h-[70vh] flex-col overflow-hidden rounded-xl bg-raised shadow-dialog outline-none"
        >
          <Autocomplete filter={contains} inputValue={typed} onInputChange={setTyped}>
            <SearchField
              autoFocus
              aria-label={t("palette")}
              className="flex items-center gap-3 border-b border-line px-4 text-muted"
            >
              <Search size={16} aria-hidden className="shrink-0" />
              <Input
                placeholder={t("palette.placeholder")}
                onKeyDown={onKeyDown}
                className="h-12 min-w-0 flex-1 bg-transparent text-base text-text outline-none placeholder:text-muted [&::-webkit-search-cancel-button]:hidden"
              />
            </SearchField>
            <EntryMenu entries={entries} onGo={go} />
          </Autocomplete>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

function EntryMenu({ entries, onGo }: { entries: Entry[]; onGo(entry: Entry | undefined): void }) {
  const { t } = useTranslation();
  return (
    <Menu
      aria-label={t("palette")}
      items={entries}
      onAction={(id) => onGo(entries.find((entry) => entry.id === id))}
      className="min-h-0 flex-1 overflow-auto p-2 outline-none"
      renderEmptyState={() => <p className="px-3 py-6 text-center text-muted">{t("nothingFound")}</p>}
    >
      {({ id, icon: Icon, label, detail }) => (
        <MenuItem
          id={id}
          textValue={`${label} ${detail}`}
          className="flex cursor-pointer items-center gap-3 rounded-md px-2.5 py-2 outline-none data-focused:bg-hover"
        >
          <Icon size={16} aria-hidden className="shrink-0 text-muted" />
          <span className="min-w-0 flex-1 truncate">{label}</span>
          <span className="truncate text-xs text-muted">{detail}</span>
        </MenuItem>
      )}
    </Menu>
  );
}

function useEntries(typed: string): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const pages = usePages();
  const { options: keys, onSearch } = useKeySearch();
  useEffect(() => onSearch(typed), [onSearch, typed]);
  const models = useModelOptions();
  const request: Entry = {
    id: "request",
    icon: ScrollText,
    label: t("palette.request", { id: typed }),
    detail: t("nav.requests"),
    go: () => void navigate({ to: "/requests/$id", params: { id: typed } }),
  };
  const found: Entry[] = [
    ...pages.map(({ to, label, icon }) => ({
      id: `page ${to}`,
      icon,
      label,
      detail: "",
      go: () => void navigate({ to }),
    })),
    ...keys.map(({ id, label, detail }) => ({
      id: `key ${id}`,
      icon: KeyRound,
      label,
      detail: `${t("nav.keys")} ${detail ?? ""} ${id}`,
      go: () => void navigate({ to: "/keys/$id", params: { id } }),
    })),
    ...models.map(({ id, label }) => ({
      id: `model ${id}`,
      icon: Boxes,
      label,
      detail: id === label ? t("nav.models") : id,
      go: () => void navigate({ to: "/models/detail", search: { model: id } }),
    })),
  ];
  const wanted = typed.toLocaleLowerCase();
  const matching = found.filter(({ label, detail }) =>
    `${label} ${detail}`.toLocaleLowerCase().includes(wanted),
  );
  if (matching.length === 0 && REQUEST_ID.test(typed)) return [request];
  return matching.slice(0, MAX_ENTRIES);
}

const DIVIDED_AREAS = ["models", "images", "money", "settings"] as const;

interface PageLink {
  to: NonNullable<LinkProps["to"]>;
  label: string;
  icon: LucideIcon;
}

/** Returns the pages of the navigation that the member may read, with their names. */
function usePages(): PageLink[] {
  const { t } = useTranslation();
  const pagesOf = useAreaPages();
  const mayRead = useMayRead();
  const areas: PageLink[] = AREAS.filter(({ to }) => mayRead(to)).map(({ to, label, icon }) => ({
    to,
    label: t(label),
    icon,
  }));
  const others = DIVIDED_AREAS.flatMap((area) => {
    const icon = areas.find(({ to }) => to === `/${area}`)?.icon ?? AREAS[0].icon;
    // The first page is left out, because it is the page of the area itself.
    const [, ...pages] = pagesOf(area);
    return pages.map(({ to, label }) => ({ to, label: t(label), icon }));
  });
  return [...areas, ...others];
}
