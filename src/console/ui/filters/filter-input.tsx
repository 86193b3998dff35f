import { Search, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "react-aria-components/Button";
import { Input } from "react-aria-components/Input";
import { SearchField } from "react-aria-components/SearchField";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";

const PAUSE_MS = 250;

/** A text filter, stored in the address under `name`. It applies when the user stops typing for a moment. */
export function FilterInput({ name, label }: { name: string; label: string }) {
  const { t } = useTranslation();
  const { filters, change } = useFilters();
  const current = filters[name] ?? "";
  const [typed, setTyped] = useState(current);
  useEffect(() => setTyped(current), [current]);
  useEffect(() => {
    if (typed === current) return undefined;
    const timer = setTimeout(() => change({ [name]: typed }, { goesOn: current !== "" }), PAUSE_MS);
    return () => clearTimeout(timer);
    // `change` is not in this list of dependencies, because it is a new function at each render.
  }, [typed, current, name]);
  return (
    <SearchField
      aria-label={label}
      value={typed}
      onChange={setTyped}
      className="group flex h-8 w-60 min-w-0 items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 focus-within:border-accent max-sm:h-10 max-sm:w-full"
    >
      <Search size={14} aria-hidden className="shrink-0 text-muted" />
      <Input
        placeholder={label}
        className="min-w-0 flex-1 bg-transparent outline-none placeholder:text-muted max-sm:text-base [&::-webkit-search-cancel-button]:hidden"
      />
      <Button
        aria-label={t("clear")}
        className="rounded-sm text-muted group-data-empty:hidden hover:text-text"
      >
        <X size={14} aria-hidden />
      </Button>
    </SearchField>
  );
}
