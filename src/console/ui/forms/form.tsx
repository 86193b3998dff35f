import { useBlocker } from "@tanstack/react-router";
import type { FormEvent, ReactNode } from "react";
import { FormProvider, type FieldValues, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "./button.tsx";
import type { FormSubject } from "./conflict.tsx";
import { DiscardDialog } from "./discard-dialog.tsx";
import { FormProblem } from "./form-problem.tsx";
import { submitHandler } from "./submit-handler.ts";

interface FormProps<Values extends FieldValues> {
  form: UseFormReturn<Values>;
  onSubmit(values: Values): Promise<unknown>;
  submitLabel?: string;
  /** True when the form creates something. It may then be submitted without changes. */
  isNew?: boolean;
  /** The stored record that the form changes. With a subject, changes by somebody else are detected. */
  subject?: FormSubject | null;
  /** Field components, such as those in this folder. */
  children: ReactNode;
}

/**
 * A form in a page. Errors of the gateway are shown beside their fields. The form asks for confirmation before the user
 * leaves the page with unsaved changes. Without changes its button is disabled, unless the form creates something.
 */
export function Form<Values extends FieldValues>({
  form,
  onSubmit,
  submitLabel,
  isNew = false,
  subject = null,
  children,
}: FormProps<Values>) {
  const { t } = useTranslation();
  const { isDirty, isSubmitting } = form.formState;
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !isSubmitting && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await submitHandler(form, onSubmit)()) form.reset(form.getValues());
  };
  return (
    <FormProvider {...form}>
      <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-5">
        <FormProblem subject={subject} />
        {children}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" isDisabled={!isDirty && !isNew} isPending={isSubmitting}>
            {submitLabel ?? t("save")}
          </Button>
          {isDirty && (
            <Button kind="quiet" onPress={() => form.reset()}>
              {t("discard")}
            </Button>
          )}
        </div>
      </form>
      <DiscardDialog
        isOpen={blocker.status === "blocked"}
        onDiscard={() => blocker.proceed?.()}
        onKeep={() => blocker.reset?.()}
      />
    </FormProvider>
  );
}
