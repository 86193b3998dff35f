import { Group } from "react-aria-components/Group";
import { Input } from "react-aria-components/Input";
import { NumberField as AriaNumberField } from "react-aria-components/NumberField";
import { FIELD, INPUT } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";

interface NumberFieldProps extends FieldProps {
  minimum?: number;
  maximum?: number;
  /** After the number, such as ms. */
  unit?: string;
  placeholder?: string;
}

/** A number; null where there is none. */
export function NumberField({ minimum, maximum, unit, placeholder, ...props }: NumberFieldProps) {
  const { field, error } = useField(props);
  return (
    <AriaNumberField
      value={typeof field.value === "number" ? field.value : Number.NaN}
      onChange={(value) => field.onChange(Number.isNaN(value) ? null : value)}
      onBlur={field.onBlur}
      {...(minimum !== undefined && { minValue: minimum })}
      {...(maximum !== undefined && { maxValue: maximum })}
      isInvalid={error !== undefined}
      isRequired={props.isRequired ?? false}
      isDisabled={props.isDisabled ?? false}
      validationBehavior="aria"
      formatOptions={{ maximumFractionDigits: 6 }}
      className={FIELD}
    >
      <FieldFrame {...props} error={error}>
        <Group className="relative">
          <Input
            ref={field.ref}
            placeholder={placeholder}
            className={`${INPUT} text-right ${unit === undefined ? "" : "pr-12"}`}
          />
          {unit !== undefined && <Unit>{unit}</Unit>}
        </Group>
      </FieldFrame>
    </AriaNumberField>
  );
}

/** What stands inside of an input at its end. */
export function Unit({ children }: { children: string }) {
  return (
    <span className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-xs text-muted">
      {children}
    </span>
  );
}
