import { Radio, RadioGroup } from "react-aria-components/RadioGroup";
import { useTranslation } from "react-i18next";
import type { Option } from "../../api/options.ts";
import { FIELD } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";
import { MultiSelectField } from "./select-field.tsx";

/** A field to choose everything or some options. The value is `"*"` or a list of ids. */
export function AllOrSomeField({
  options,
  allLabel,
  ...props
}: FieldProps & { options: readonly Option[]; allLabel: string }) {
  const { t } = useTranslation();
  const { field, error } = useField({ ...props, isRequired: false });
  const isAll = field.value === "*";
  const choice =
    "cursor-pointer rounded px-3 py-1 text-muted hover:text-text data-selected:bg-surface data-selected:font-medium data-selected:text-text data-selected:shadow-sm data-focus-visible:outline-2";
  return (
    <div className="flex flex-col gap-2">
      <RadioGroup
        value={isAll ? "all" : "some"}
        onChange={(id) => field.onChange(id === "all" ? "*" : [])}
        isDisabled={props.isDisabled ?? false}
        className={FIELD}
      >
        <FieldFrame label={props.label} help={props.help} error={isAll ? error : undefined}>
          <div className="flex w-fit max-w-full gap-1 rounded-md bg-sunken p-1">
            <Radio value="all" className={choice}>
              {allLabel}
            </Radio>
            <Radio value="some" className={choice}>
              {t("onlySome")}
            </Radio>
          </div>
        </FieldFrame>
      </RadioGroup>
      {!isAll && <MultiSelectField name={props.name} label={t("chosenOnes")} options={options} isRequired />}
    </div>
  );
}
