import { useId, useState, type FormEvent, type ReactNode } from "react";
import { FormProvider, type FieldValues, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Dialog, type DialogProps } from "../overlay/dialog.tsx";
import { Button } from "./button.tsx";
import type { FormSubject } from "./conflict.tsx";
import { DiscardDialog } from "./discard-dialog.tsx";
import { FormProblem } from "./form-problem.tsx";
import { submitHandler } from "./submit-handler.ts";

interface FormDialogProps<Values extends FieldValues> extends Pick<DialogProps, "title" | "isOpen" | "size"> {
  form: UseFormReturn<Values>;
  /**
   * Called with the form's values. The dialog closes when the promise resolves. An error is shown beside its field, or
   * above the form.
   */
  onSubmit(values: Values): Promise<unknown>;
  onClose(): void;
  submitLabel?: string;
  /** The stored record that the form changes. With a subject, changes by somebody else are detected. */
  subject?: FormSubject | null;
  children: ReactNode;
}

/** A form in a dialog. It asks before it closes with unsaved changes. */
export function FormDialog<Values extends FieldValues>({
  form,
  onSubmit,
  onClose,
  submitLabel,
  subject = null,
  children,
  ...dialog
}: FormDialogProps<Values>) {
  const { t } = useTranslation();
  const id = useId();
  const [isAsking, setAsking] = useState(false);
  const { isDirty, isSubmitting } = form.formState;
  const close = () => {
    setAsking(false);
    onClose();
    form.reset();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (await submitHandler(form, onSubmit)()) close();
  };
  const leave = () => (isDirty ? setAsking(true) : close());
  return (
    <FormProvider {...form}>
      <Dialog
        {...dialog}
        onClose={leave}
        footer={
          <>
            <Button onPress={leave}>{t("cancel")}</Button>
            <Button type="submit" form={id} kind="primary" isPending={isSubmitting}>
              {submitLabel ?? t("save")}
            </Button>
          </>
        }
      >
        <form
          id={id}
          noValidate
          onSubmit={(event) => void submit(event)}
          className="flex flex-col gap-5 pb-3"
        >
          <FormProblem subject={subject} />
          {children}
        </form>
        <DiscardDialog isOpen={isAsking} onDiscard={close} onKeep={() => setAsking(false)} />
      </Dialog>
    </FormProvider>
  );
}
