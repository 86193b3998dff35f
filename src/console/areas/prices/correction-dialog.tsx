import { useForm, useWatch, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { ApiError, type Input, type Output } from "../../api/call.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { TimeField } from "../../ui/forms/time-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { Details } from "../../ui/text/details.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import { AmountFields } from "./amount-fields.tsx";
import { emptyAmounts, toAmounts, withoutRowField, type AmountValues } from "./amounts.ts";
import { usePricePreview } from "./preview.ts";
import type { PriceDialogProps } from "./price-dialog.tsx";

interface CorrectionValues extends AmountValues {
  from: string | null;
  to: string | null;
  reason: string;
}

type Owner = Pick<Input<"priceCorrections.apply">, "model" | "organizationId">;

/** Corrects past charges of a model to another price. Shows the difference first. */
export function CorrectionDialog({ row, currency, organizationId, onClose }: PriceDialogProps) {
  const { t } = useTranslation("prices");
  const form = useForm<CorrectionValues>({
    defaultValues: { ...emptyAmounts(row), from: null, to: null, reason: "" },
  });
  const apply = useOperationMutation("priceCorrections.apply", [
    "ledger",
    "requests",
    "budgets",
    "usage",
    "overview",
  ]);
  const owner = { model: row.model, organizationId };
  return (
    <FormDialog
      title={t("correct.title", { model: row.model })}
      form={form}
      size="l"
      isOpen
      onClose={onClose}
      submitLabel={t("correct.apply")}
      onSubmit={async (values) => {
        const input = toInput(values, owner);
        if (!input) throw new ApiError(400, "bad_request", t("add.nothing"), null, null);
        try {
          const { adjusted } = await apply.mutateAsync(input);
          showToast(t("correct.done", { count: adjusted }));
        } catch (error) {
          throw withoutRowField(error);
        }
      }}
    >
      <p className="text-muted">{t("correct.what")}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <TimeField name="from" label={t("correct.from")} isRequired />
        <TimeField name="to" label={t("correct.to")} />
      </div>
      <TextField name="reason" label={t("correct.reason")} help={t("correct.reason.help")} isRequired />
      <AmountFields row={row} currency={currency} help={t("correct.amounts")} />
      <Preview form={form} owner={owner} />
    </FormDialog>
  );
}

function toInput(values: CorrectionValues, owner: Owner): Input<"priceCorrections.apply"> | null {
  const amounts = toAmounts(values);
  if (!amounts || values.from === null) return null;
  const { from, to, reason } = values;
  return { ...owner, ...amounts, from, reason, ...(to !== null && { to }) };
}

function Preview({ form, owner }: { form: UseFormReturn<CorrectionValues>; owner: Owner }) {
  const { t } = useTranslation("prices");
  useWatch({ control: form.control });
  const values = form.getValues();
  const input = toInput(values, owner);
  // The preview needs no reason, and the user types the reason last. So a fixed reason is sent.
  const preview = usePricePreview("priceCorrections.preview", input && { ...input, reason: "preview" });
  return (
    <section className="flex flex-col gap-2 border-t border-line pt-4" aria-live="polite">
      <h3 className="font-semibold">{t("correct.preview")}</h3>
      {preview.error && <p className="text-bad">{preview.error.message}</p>}
      {!preview.error && preview.data && <Result correction={preview.data} />}
      {!preview.error && !preview.data && input === null && (
        <p className="text-muted">{t("correct.preview.empty")}</p>
      )}
    </section>
  );
}

function Result({ correction }: { correction: Output<"priceCorrections.preview"> }) {
  const { t } = useTranslation("prices");
  const organizations = useOrganizationOptions();
  const { charges, adjusted, unrated, difference, currency } = correction;
  return (
    <>
      <Details
        entries={[
          [t("correct.charges"), formatCount(charges)],
          [t("correct.adjusted"), formatCount(adjusted)],
          [t("correct.unrated"), unrated > 0 ? formatCount(unrated) : null],
          [t("correct.difference"), <Money key="difference" amount={difference} currency={currency} />],
          ...correction.organizations.map(
            ({ id, difference }) =>
              [
                organizations.find((each) => each.id === id)?.label ?? id,
                <Money key={id} amount={difference} currency={currency} />,
              ] as const,
          ),
        ]}
      />
      {adjusted === 0 && <p className="text-muted">{t("correct.none")}</p>}
    </>
  );
}
