import { useNavigate, useSearch } from "@tanstack/react-router";

/** The search parameters of an address. All values are text. */
export type Search = Record<string, string | undefined>;

export function parseSearch(query: string): Search {
  return Object.fromEntries(new URLSearchParams(query));
}

/** Returns the parameters as text. Code that navigates may have passed numbers. */
export function readSearch(search: Readonly<Record<string, unknown>>): Search {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    ),
  );
}

export function renderSearch(search: Search): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    if (value !== undefined && value !== "") query.set(name, String(value));
  return query.size === 0 ? "" : `?${query}`;
}

/**
 * Returns the filters that a view's address contains. `change` sets some of them; an empty or absent value removes a
 * filter. The browser's Back button undoes a change, except a change with `goesOn`, which is for typed text.
 */
export function useFilters(): {
  filters: Search;
  change(some: Search, options?: { goesOn: boolean }): void;
} {
  const filters: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (some: Search, { goesOn } = { goesOn: false }) =>
    void navigate({
      to: ".",
      replace: goesOn,
      search: (before: Search) => withoutEmpty({ ...before, ...some }),
    });
  return { filters, change };
}

function withoutEmpty(search: Search): Search {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== ""),
  );
}
