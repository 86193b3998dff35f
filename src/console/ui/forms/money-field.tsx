import { Group } from "react-aria-components/Group";
import { Input } from "react-aria-components/Input";
import { TextField } from "react-aria-components/TextField";
import { INPUT } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";
import { Unit } from "./number-field.tsx";

/** A field for an amount. Its value is a decimal text, because a floating-point number could change digits. */
export function MoneyField({
  currency,
  placeholder = "0.00",
  ...props
}: FieldProps & { currency: string; placeholder?: string | undefined }) {
  const { field, error, shared } = useField(props);
  return (
    <TextField
      {...shared}
      name={props.name}
      value={String(field.value ?? "")}
      onChange={(text) => field.onChange(text.replace(",", ".").replace(/[^\d.-]/g, ""))}
      inputMode="decimal"
      autoComplete="off"
    >
      <FieldFrame {...props} error={error}>
        <Group className="relative">
          <Input ref={field.ref} placeholder={placeholder} className={`${INPUT} pr-12 text-right`} />
          <Unit>{currency}</Unit>
        </Group>
      </FieldFrame>
    </TextField>
  );
}
