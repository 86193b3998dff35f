import type { ReactNode } from "react";
import { FieldError } from "react-aria-components/FieldError";
import { Label } from "react-aria-components/Label";
import { Text } from "react-aria-components/Text";
import { useController } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { sentence } from "../text/format.ts";
import { FIELD } from "./field-class.ts";

/** The properties of every field. `name` is the field's path in the form's values. */
export interface FieldProps {
  name: string;
  label: string;
  /** Help text below the field. */
  help?: ReactNode;
  isRequired?: boolean;
  isDisabled?: boolean;
}

/**
 * Returns the value and the error of a field in the surrounding form. Also returns the properties that all field
 * components of React Aria take.
 */
export function useField({ name, isRequired = false, isDisabled = false }: Omit<FieldProps, "label">) {
  const { t } = useTranslation();
  const { field, fieldState } = useController({
    name,
    rules: { validate: (value) => !isRequired || !isBlank(value) || t("required") },
  });
  const error = messageOf(fieldState.error);
  const shared = {
    onBlur: field.onBlur,
    isInvalid: error !== undefined,
    isRequired,
    isDisabled,
    validationBehavior: "aria",
    className: FIELD,
  } as const;
  return { field, error, shared };
}

function isBlank(value: unknown): boolean {
  return (
    value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

/** Returns the first message of an error, or of the errors inside it. */
export function messageOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  if ("message" in error && typeof error.message === "string") return error.message;
  return Object.values(error).map(messageOf).find(Boolean);
}

/**
 * Shows the label above a field, and the help and the error below it. Use it inside a field component of React Aria.
 */
export function FieldFrame({
  label,
  help,
  error,
  isRequired,
  children,
}: Pick<FieldProps, "label" | "help" | "isRequired"> & { error: string | undefined; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <>
      <Label className="font-medium">
        {label}
        {isRequired === true && (
          <span className="ml-1 font-normal text-muted" aria-hidden title={t("required")}>
            *
          </span>
        )}
      </Label>
      {children}
      {help !== undefined && (
        <Text slot="description" className="text-xs text-muted">
          {help}
        </Text>
      )}
      <FieldError className="text-xs text-bad">{error && sentence(error)}</FieldError>
    </>
  );
}
