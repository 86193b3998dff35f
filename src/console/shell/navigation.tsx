import { Link } from "@tanstack/react-router";
import {
  Boxes,
  Gauge,
  Images,
  KeyRound,
  ListTodo,
  ScrollText,
  Settings,
  Sparkles,
  WalletCards,
} from "lucide-react";
import { useTranslation } from "react-i18next";
import { useMayRead } from "../api/page-needs.ts";

/** The areas in the order of the navigation. */
export const AREAS = [
  { to: "/", label: "nav.overview", icon: Gauge },
  { to: "/playground", label: "nav.playground", icon: Sparkles },
  { to: "/requests", label: "nav.requests", icon: ScrollText },
  { to: "/jobs", label: "nav.jobs", icon: ListTodo },
  { to: "/images", label: "nav.images", icon: Images },
  { to: "/keys", label: "nav.keys", icon: KeyRound },
  { to: "/models", label: "nav.models", icon: Boxes },
  { to: "/money", label: "nav.money", icon: WalletCards },
  { to: "/settings", label: "nav.settings", icon: Settings },
] as const;

export function Navigation({ onNavigate }: { onNavigate?: () => void }) {
  const { t } = useTranslation();
  const mayRead = useMayRead();
  return (
    <nav aria-label={t("nav")}>
      <ul className="flex flex-col gap-0.5">
        {AREAS.filter(({ to }) => mayRead(to)).map(({ to, label, icon: Icon }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: to === "/", includeSearch: false }}
              {...(onNavigate && { onClick: onNavigate })}
              className="flex h-8 items-center gap-2.5 rounded-md px-2.5 font-medium text-muted transition-colors hover:bg-hover hover:text-text aria-[current=page]:bg-sunken aria-[current=page]:text-text max-sm:h-11"
            >
              <Icon size={16} aria-hidden className="shrink-0" />
              <span className="truncate">{t(label)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
