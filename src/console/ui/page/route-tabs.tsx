import { Link, useLocation, type LinkProps } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

/** Tabs with the pages of an area. Each page has its own address. */
export function RouteTabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly { to: NonNullable<LinkProps["to"]>; label: string }[];
}) {
  const list = useRef<HTMLUListElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    // Scrolls to the current tab. On a phone it may otherwise not be visible.
    list.current
      ?.querySelector("[aria-current=page]")
      ?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname]);
  return (
    <nav
      aria-label={label}
      className="-mx-4 overflow-x-auto overflow-y-hidden border-b border-line px-4 sm:mx-0 sm:px-0"
    >
      <ul ref={list} className="flex gap-1">
        {tabs.map(({ to, label }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: true, includeSearch: false }}
              className="-mb-px block border-b-2 border-transparent px-3 py-2 font-medium whitespace-nowrap text-muted -outline-offset-2! hover:text-text aria-[current=page]:border-accent aria-[current=page]:text-text"
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
