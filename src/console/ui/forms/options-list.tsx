import { Check, Search } from "lucide-react";
import { Autocomplete, useFilter } from "react-aria-components/Autocomplete";
import { Input } from "react-aria-components/Input";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import { SearchField } from "react-aria-components/SearchField";
import { useTranslation } from "react-i18next";
import type { Option } from "../../api/options.ts";

/** Number of options from which a list has a search field. */
const SEARCHED = 9;

/**
 * The options of a select. A long list has a search field. `onSearch` is called with the typed text, and set only when
 * `options` may not contain every option.
 */
export function OptionsList({
  options,
  onSearch,
}: {
  options: readonly Option[];
  onSearch?: ((typed: string) => void) | undefined;
}) {
  const { t } = useTranslation();
  const { contains } = useFilter({ sensitivity: "base" });
  const list = (
    <ListBox
      items={options}
      className="max-h-72 overflow-auto p-1 outline-none"
      renderEmptyState={() => <p className="px-2 py-3 text-muted">{t("nothingFound")}</p>}
    >
      {(option) => (
        <ListBoxItem
          id={option.id}
          textValue={`${option.label} ${option.detail ?? ""}`}
          className="group flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none data-focused:bg-hover"
        >
          <Check size={14} aria-hidden className="invisible shrink-0 group-data-selected:visible" />
          <span className="min-w-0 flex-1 truncate">{option.label}</span>
          {option.detail !== undefined && (
            <span className="truncate text-xs text-muted">{option.detail}</span>
          )}
        </ListBoxItem>
      )}
    </ListBox>
  );
  return (
    <Popover className="w-(--trigger-width) min-w-56 animate-appear rounded-lg bg-raised shadow-popover">
      {options.length < SEARCHED ? (
        list
      ) : (
        <Autocomplete filter={contains} {...(onSearch && { onInputChange: onSearch })}>
          <SearchField
            autoFocus
            aria-label={t("search")}
            className="flex items-center gap-2 border-b border-line px-3 text-muted"
          >
            <Search size={14} aria-hidden />
            <Input
              placeholder={t("search")}
              className="h-9 min-w-0 flex-1 bg-transparent text-text outline-none placeholder:text-muted max-sm:text-base [&::-webkit-search-cancel-button]:hidden"
            />
          </SearchField>
          {list}
        </Autocomplete>
      )}
    </Popover>
  );
}
