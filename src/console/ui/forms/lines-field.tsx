import { useState } from "react";
import { TextArea } from "react-aria-components/TextArea";
import { TextField } from "react-aria-components/TextField";
import { TEXT_AREA } from "./field-class.ts";
import { FieldFrame, useField, type FieldProps } from "./field-frame.tsx";

interface LinesFieldProps extends FieldProps {
  placeholder?: string;
  /** The value for an empty text. If absent, an empty text is an empty list. */
  whenEmpty?: null;
}

/** A field for a list of texts, one per line, such as networks (`10.0.0.0/8`). */
export function LinesField({ placeholder, whenEmpty, ...props }: LinesFieldProps) {
  const { field, error, shared } = useField(props);
  const kept = (Array.isArray(field.value) ? field.value : []).join("\n");
  const [typed, setTyped] = useState(kept);
  const shown = linesOf(typed).join("\n") === kept ? typed : kept;
  return (
    <TextField
      {...shared}
      value={shown}
      onChange={(text) => {
        const lines = linesOf(text);
        setTyped(text);
        field.onChange(lines.length === 0 && whenEmpty === null ? null : lines);
      }}
    >
      <FieldFrame {...props} error={error}>
        <TextArea
          ref={field.ref}
          rows={3}
          placeholder={placeholder}
          spellCheck="false"
          className={`${TEXT_AREA} min-h-20 font-mono text-xs leading-5`}
        />
      </FieldFrame>
    </TextField>
  );
}

function linesOf(text: string): string[] {
  return text
    .split(/[\n,;]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
