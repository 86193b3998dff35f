import type { FormEvent, ReactNode } from "react";
import { FormProvider, type FieldValues, type UseFormReturn } from "react-hook-form";
import { Button } from "../../ui/forms/button.tsx";
import { FormProblem } from "../../ui/forms/form-problem.tsx";
import { submitHandler } from "../../ui/forms/submit-handler.ts";

/** A form with one button, such as a step of the sign-in. */
export function StepForm<Values extends FieldValues>({
  form,
  onSubmit,
  submitLabel,
  children,
}: {
  form: UseFormReturn<Values>;
  onSubmit(values: Values): Promise<unknown>;
  submitLabel: string;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void submitHandler(form, onSubmit)();
  };
  return (
    <FormProvider {...form}>
      <form noValidate onSubmit={submit} className="flex flex-col gap-4">
        <FormProblem />
        {children}
        <Button type="submit" kind="primary" isPending={form.formState.isSubmitting}>
          {submitLabel}
        </Button>
      </form>
    </FormProvider>
  );
}
