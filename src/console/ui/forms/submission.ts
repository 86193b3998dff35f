import type { FieldValues, Path, UseFormReturn } from "react-hook-form";
import { ApiError } from "../../api/call.ts";

/** Where a form keeps what belongs to no field of it. */
const FORM_PROBLEM = "root.server";

/**
 * The handler of a form's submission. What the gateway refuses is put beside the field that it names, and above the form
 * where it names none of this form. Returns whether it was done.
 */
export function submission<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  onSubmit: (values: Values) => Promise<unknown>,
): () => Promise<boolean> {
  return async () => {
    let isDone = false;
    await form.handleSubmit(async (values) => {
      try {
        await onSubmit(values);
        isDone = true;
      } catch (error) {
        placeError(form, error);
      }
    })();
    return isDone;
  };
}

function placeError<Values extends FieldValues>(form: UseFormReturn<Values>, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const field = error instanceof ApiError ? error.field : null;
  const isOwn = field !== null && (field.split(/[.[]/)[0] ?? "") in form.getValues();
  if (isOwn) {
    // It stands beside the field, which has another name there.
    const own = message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
    form.setError(field as Path<Values>, { type: "server", message: own }, { shouldFocus: true });
  } else form.setError(FORM_PROBLEM, { type: "server", message: field ? `${field}: ${message}` : message });
}
