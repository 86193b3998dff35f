import { ChevronDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { Label } from "react-aria-components/Label";
import { Select, SelectValue } from "react-aria-components/Select";
import type { Option } from "../../api/options.ts";
import { FIELD, INPUT } from "../../ui/forms/field-class.ts";
import { OptionsList } from "../../ui/forms/options-list.tsx";

const NONE = "";

/** A select that is no field of a form. Its value is the id of an option; null means the first entry. */
export function PlainSelect({
  label,
  value,
  options,
  none,
  onChange,
}: {
  label: string;
  value: string | null;
  options: readonly Option[];
  /** Label of the first entry. The entry's value is null. */
  none: string;
  onChange(value: string | null): void;
}) {
  return (
    <Select
      value={value ?? NONE}
      onChange={(id) => onChange(id === NONE ? null : String(id))}
      className={`${FIELD} w-72 max-w-full`}
    >
      <Label className="font-medium">{label}</Label>
      <Button className={`${INPUT} flex items-center gap-2 text-left`}>
        <SelectValue<Option> className="min-w-0 flex-1 truncate">
          {({ selectedItems }) => selectedItems[0]?.label ?? none}
        </SelectValue>
        <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
      </Button>
      <OptionsList options={[{ id: NONE, label: none }, ...options]} />
    </Select>
  );
}
