import type { HTMLInputTypeAttribute } from "react";
import { Input } from "react-aria-components/Input";
import { TextArea } from "react-aria-components/TextArea";
import { TextField as AriaTextField } from "react-aria-components/TextField";
import { INPUT, TEXT_AREA } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";

interface TextFieldProps extends FieldProps {
  type?: HTMLInputTypeAttribute;
  placeholder?: string;
  autoComplete?: string;
  inputMode?: "text" | "numeric" | "decimal" | "email" | "url";
  isMono?: boolean;
  autoFocus?: boolean;
  /** Initial number of lines of a multi-line field. */
  lines?: number;
}

/** A field for a text. The value of an empty field is `""`. */
export function TextField({ type, placeholder, isMono, lines, ...props }: TextFieldProps) {
  const { field, error, shared } = useField(props);
  const look = isMono === true ? " font-mono" : "";
  return (
    <AriaTextField
      {...shared}
      {...(type !== undefined && { type })}
      name={props.name}
      value={String(field.value ?? "")}
      onChange={field.onChange}
      autoFocus={props.autoFocus ?? false}
      autoComplete={props.autoComplete ?? "off"}
      inputMode={props.inputMode ?? "text"}
    >
      <FieldFrame {...props} error={error}>
        {lines === undefined ? (
          <Input ref={field.ref} placeholder={placeholder} className={INPUT + look} />
        ) : (
          <TextArea
            ref={field.ref}
            placeholder={placeholder}
            rows={lines}
            className={`${TEXT_AREA} min-h-8${look}`}
          />
        )}
      </FieldFrame>
    </AriaTextField>
  );
}
