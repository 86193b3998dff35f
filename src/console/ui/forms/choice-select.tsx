import { ChevronDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { Label } from "react-aria-components/Label";
import { Select, SelectValue } from "react-aria-components/Select";
import type { Option } from "../../api/options.ts";
import { OptionsList } from "./options-list.tsx";

interface ChoiceSelectProps {
  label: string;
  options: readonly Option[];
  /** The id of the chosen option. */
  value: string;
  onChange(id: string): void;
  /** Called with the typed text; set only when `options` may not contain every option. */
  onSearch?: ((typed: string) => void) | undefined;
}

/** A select that is no field of a form. Use `SelectField` for a field, and `FilterSelect` for a filter. */
export function ChoiceSelect({ label, options, value, onChange, onSearch }: ChoiceSelectProps) {
  return (
    <Select
      value={value}
      onChange={(id) => id !== null && onChange(String(id))}
      className="inline-flex h-8 max-w-[min(18rem,100%)] min-w-0 items-center rounded-md border border-line-strong bg-surface hover:bg-hover max-sm:h-10"
    >
      <Label className="pl-2.5 whitespace-nowrap text-muted">{label}</Label>
      <Button className="inline-flex h-full min-w-0 items-center gap-1.5 rounded-md px-2 -outline-offset-2!">
        <SelectValue<Option> className="truncate font-medium">
          {({ selectedItems }) => selectedItems[0]?.label ?? value}
        </SelectValue>
        <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
      </Button>
      <OptionsList options={options} onSearch={onSearch} />
    </Select>
  );
}
