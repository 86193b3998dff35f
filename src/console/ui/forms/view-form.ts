import { useForm, type FieldValues, type UseFormProps, type UseFormReturn } from "react-hook-form";

/**
 * A form that shows what exists. When that changes, the fields show it, but for those that were written in: what was
 * typed stays.
 */
export function useViewForm<Values extends FieldValues>(
  values: Values,
  options: UseFormProps<Values> = {},
): UseFormReturn<Values> {
  return useForm<Values>({ ...options, values, resetOptions: { keepDirtyValues: true, keepDirty: true } });
}
