import { ChevronDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { Select, SelectValue } from "react-aria-components/Select";
import type { Option } from "../lib/options.ts";
import { OptionsList } from "./fields/options-list.tsx";

interface ChoiceSelectProps {
  /** Shown before the choice, muted. */
  label: string;
  options: readonly Option[];
  /** The id of an option. */
  value: string;
  onChange(id: string): void;
}

/** One of several, beside what it applies to; for a choice in a form there is `SelectField`. */
export function ChoiceSelect({ label, options, value, onChange }: ChoiceSelectProps) {
  return (
    <Select aria-label={label} value={value} onChange={(id) => id !== null && onChange(String(id))}>
      <Button className="inline-flex h-8 max-w-full items-center gap-1.5 rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover max-sm:h-10">
        <span className="shrink-0 text-muted">{label}</span>
        <SelectValue<Option> className="truncate font-medium">
          {({ selectedItems, defaultChildren }) => selectedItems[0]?.label ?? defaultChildren}
        </SelectValue>
        <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
      </Button>
      <OptionsList options={options} />
    </Select>
  );
}
