import { Group } from "react-aria-components/Group";
import { Input } from "react-aria-components/Input";
import { NumberField as AriaNumberField } from "react-aria-components/NumberField";
import { INPUT } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";

interface NumberFieldProps extends FieldProps {
  minimum?: number;
  maximum?: number;
  /** Unit shown after the number, such as ms. */
  unit?: string;
  placeholder?: string;
}

/** A field for a number. The value of an empty field is null. */
export function NumberField({ minimum, maximum, unit, placeholder, ...props }: NumberFieldProps) {
  const { field, error, shared } = useField(props);
  return (
    <AriaNumberField
      {...shared}
      value={typeof field.value === "number" ? field.value : Number.NaN}
      onChange={(value) => field.onChange(Number.isNaN(value) ? null : value)}
      {...(minimum !== undefined && { minValue: minimum })}
      {...(maximum !== undefined && { maxValue: maximum })}
      formatOptions={{ maximumFractionDigits: 6 }}
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

/** Shows a unit inside an input, at its end. */
export function Unit({ children }: { children: string }) {
  return (
    <span className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-xs text-muted">
      {children}
    </span>
  );
}
