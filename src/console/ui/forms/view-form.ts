import { useRef } from "react";
import { useForm, type FieldValues, type UseFormProps, type UseFormReturn } from "react-hook-form";
import { CONFLICT } from "./submit-handler.ts";

/**
 * A form that shows what exists, and shows it again when that changes. After a conflict the fields that were written in
 * stay as they are.
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
