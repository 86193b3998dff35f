import type { FieldValues, Path, UseFormReturn } from "react-hook-form";
import { ApiError } from "../../api/call.ts";

/** Name under which the form's state stores an error that belongs to no field. */
const FORM_PROBLEM = "root.server";
/** Name of the error that somebody else has changed the record. The form's state stores it below `root`. */
export const CONFLICT = "conflict";

/**
 * Returns the handler of a form's submission. The handler shows a refusal of the gateway beside the field that the
 * refusal names, or above the form if the form lacks that field. It resolves to true when the submission succeeded.
 */
export function submitHandler<Values extends FieldValues>(
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
  if (error instanceof ApiError && error.status === 409 && field === "version")
    return form.setError(`root.${CONFLICT}`, { type: "server", message });
  const isOwn = field !== null && (field.split(/[.[]/)[0] ?? "") in form.getValues();
  if (isOwn) {
    // The message is shown beside the field, whose label already has the field's name. So the name is removed.
    const own = message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
    form.setError(field as Path<Values>, { type: "server", message: own }, { shouldFocus: true });
  } else form.setError(FORM_PROBLEM, { type: "server", message: field ? `${field}: ${message}` : message });
}
