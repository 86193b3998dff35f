import { ChevronDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { Select, SelectValue } from "react-aria-components/Select";
import { useTranslation } from "react-i18next";
import { useModelOptions, useOrganizationOptions, type Option } from "../../api/options.ts";
import { INPUT } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";
import { OptionsList } from "./options-list.tsx";

interface SelectFieldProps extends FieldProps {
  options: readonly Option[];
  placeholder?: string;
}

const TRIGGER = `${INPUT} flex items-center gap-2 text-left`;

/** A field to choose one of several options. The value is the id of the option, or null. Disabled without options. */
export function SelectField({ options, placeholder, ...props }: SelectFieldProps) {
  const { t } = useTranslation();
  const { field, error, shared } = useField(props);
  return (
    <Select
      {...shared}
      isDisabled={shared.isDisabled || options.length === 0}
      value={typeof field.value === "string" ? field.value : null}
      onChange={(id) => field.onChange(id)}
      placeholder={placeholder ?? t("choose")}
    >
      <FieldFrame {...props} error={error}>
        <SelectTrigger inputRef={field.ref} />
      </FieldFrame>
      <OptionsList options={options} />
    </Select>
  );
}

/** A field to choose some of several options. The value is a list of ids. Disabled without options. */
export function MultiSelectField({ options, placeholder, ...props }: SelectFieldProps) {
  const { t } = useTranslation();
  const { field, error, shared } = useField(props);
  return (
    <Select
      {...shared}
      isDisabled={shared.isDisabled || options.length === 0}
      selectionMode="multiple"
      value={Array.isArray(field.value) ? field.value.map(String) : []}
      onChange={(ids) => field.onChange([...ids].map(String))}
      placeholder={placeholder ?? t("chooseSome")}
    >
      <FieldFrame {...props} error={error}>
        <SelectTrigger inputRef={field.ref} />
      </FieldFrame>
      <OptionsList options={options} />
    </Select>
  );
}

function SelectTrigger({ inputRef }: { inputRef: (element: HTMLButtonElement | null) => void }) {
  const { t } = useTranslation();
  return (
    <Button ref={inputRef} className={TRIGGER}>
      <SelectValue<Option> className="min-w-0 flex-1 truncate data-placeholder:text-muted">
        {({ selectedItems, isPlaceholder, defaultChildren }) => {
          if (isPlaceholder) return defaultChildren;
          const labels = selectedItems.flatMap((item) => (item ? [item.label] : []));
          return labels.length > 3 ? t("chosen", { count: labels.length }) : labels.join(", ");
        }}
      </SelectValue>
      <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
    </Button>
  );
}

/** A field to choose one organization. The value is its id. */
export function OrganizationField(props: FieldProps) {
  return <SelectField {...props} options={useOrganizationOptions()} />;
}

/** A field to choose models. The value is a list of ids. */
export function ModelsField(props: FieldProps) {
  return <MultiSelectField {...props} options={useModelOptions()} />;
}
