import { Input } from "react-aria-components/Input";
import { TextField } from "react-aria-components/TextField";
import { INPUT } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";

/**
 * A field for a date and time. The value is ISO 8601 in UTC, or null. The user types in their own time zone, which is
 * shown below the field unless there is a help text.
 */
export function TimeField(props: FieldProps) {
  const { field, error, shared } = useField(props);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <TextField
      {...shared}
      type="datetime-local"
      value={toLocal(field.value)}
      onChange={(text) => field.onChange(text === "" ? null : new Date(text).toISOString())}
    >
      <FieldFrame {...props} help={props.help ?? zone} error={error}>
        <Input ref={field.ref} className={INPUT} />
      </FieldFrame>
    </TextField>
  );
}

function toLocal(value: unknown): string {
  if (typeof value !== "string" || value === "") return "";
  const time = new Date(value);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
