import { Radio, RadioGroup } from "react-aria-components/RadioGroup";
import { useTranslation } from "react-i18next";
import { FIELD } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";

interface ChoiceFieldProps extends FieldProps {
  choices: readonly { id: string; label: string }[];
}

/** A field to choose one of two to four options, all visible. The value is the id of the option. */
export function ChoiceField({ choices, ...props }: ChoiceFieldProps) {
  const { field, error } = useField(props);
  return (
    <Choices
      {...props}
      choices={choices}
      value={String(field.value ?? "")}
      error={error}
      onChange={field.onChange}
    />
  );
}

/** A field for on, off or not set. The value is true, false or null. */
export function ThreeStateField({
  labels,
  ...props
}: FieldProps & { labels?: { on: string; off: string; unset: string } }) {
  const { t } = useTranslation();
  const { field, error } = useField(props);
  const value = field.value === true ? "on" : field.value === false ? "off" : "unset";
  return (
    <Choices
      {...props}
      error={error}
      value={value}
      onChange={(id) => field.onChange(id === "unset" ? null : id === "on")}
      choices={[
        { id: "on", label: labels?.on ?? t("on") },
        { id: "off", label: labels?.off ?? t("off") },
        { id: "unset", label: labels?.unset ?? t("notSet") },
      ]}
    />
  );
}

function Choices({
  choices,
  value,
  error,
  onChange,
  ...props
}: ChoiceFieldProps & { value: string; error: string | undefined; onChange(id: string): void }) {
  return (
    <RadioGroup
      value={value}
      onChange={onChange}
      isInvalid={error !== undefined}
      isDisabled={props.isDisabled ?? false}
      validationBehavior="aria"
      className={FIELD}
    >
      <FieldFrame {...props} error={error}>
        <div className="flex w-fit max-w-full flex-wrap gap-1 rounded-md bg-sunken p-1">
          {choices.map(({ id, label }) => (
            <Radio
              key={id}
              value={id}
              className="cursor-pointer rounded px-3 py-1 text-muted hover:text-text data-focus-visible:outline-2 data-selected:bg-surface data-selected:font-medium data-selected:text-text data-selected:shadow-sm"
            >
              {label}
            </Radio>
          ))}
        </div>
      </FieldFrame>
    </RadioGroup>
  );
}
