import { useRef } from "react";
import { useForm, type FieldValues, type UseFormProps, type UseFormReturn } from "react-hook-form";
import { CONFLICT } from "./submit-handler.ts";

/**
 * Returns a form for an existing record. When the record changes, the form shows the new values. After a conflict the
 * form keeps the fields that the user has changed.
 */
export function useViewForm<Values extends FieldValues>(
  values: Values,
  options: UseFormProps<Values> = {},
): UseFormReturn<Values> {
  const isInConflict = useRef(false);
  const resetOptions = isInConflict.current ? { keepDirtyValues: true, keepDirty: true } : {};
  const form = useForm<Values>({ ...options, values, resetOptions });
  isInConflict.current = form.formState.errors.root?.[CONFLICT] !== undefined;
  return form;
}
