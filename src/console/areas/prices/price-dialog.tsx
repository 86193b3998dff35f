import { useForm, useWatch, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TimeField } from "../../ui/forms/time-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { ApiError, type Input } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { AmountFields } from "./amount-fields.tsx";
import { emptyAmounts, toAmounts, withoutRowField, type AmountValues } from "./amounts.ts";
import type { ModelPrices } from "./cells.ts";
import { usePricePreview } from "./preview.ts";
import { PreviewTable } from "./preview-table.tsx";

interface PriceValues extends AmountValues {
  when: "now" | "later";
  effectiveFrom: string | null;
  isForced: boolean;
}

export interface PriceDialogProps {
  row: ModelPrices;
  currency: string;
  /** Null is the default of all. */
  organizationId: string | null;
  onClose(): void;
}

/** Adds a price row, and first shows its changes. */
export function PriceDialog({ row, currency, organizationId, onClose }: PriceDialogProps) {
  const { t } = useTranslation("prices");
  const form = useForm<PriceValues>({
    defaultValues: { ...emptyAmounts(row), when: "now", effectiveFrom: null, isForced: false },
  });
  const create = useOperationMutation("prices.create", ["prices", "models", "overview"]);
  const owner = { model: row.model, organizationId };
  return (
    <FormDialog
      title={t("add.title", { model: row.model })}
      form={form}
      size="l"
      isOpen
      onClose={onClose}
      submitLabel={t("add.submit")}
      onSubmit={async (values) => {
        const input = toInput(values, owner);
        if (!input) throw new ApiError(400, "bad_request", t("add.nothing"), null, null);
        try {
          await create.mutateAsync({ ...input, isForced: values.isForced });
        } catch (error) {
          throw withoutRowField(error);
        }
        showToast(t("add.done"));
      }}
    >
      <WhenFields form={form} />
      <AmountFields row={row} currency={currency} help={t("add.amounts.help")} />
      <Preview form={form} owner={owner} currency={currency} />
    </FormDialog>
  );
}

type Owner = Pick<Input<"prices.preview">, "model" | "organizationId">;

function toInput(values: PriceValues, owner: Owner): Input<"prices.preview"> | null {
  const amounts = toAmounts(values);
  if (!amounts) return null;
  const isLater = values.when === "later" && values.effectiveFrom !== null;
  return { ...owner, ...amounts, ...(isLater && { effectiveFrom: values.effectiveFrom ?? undefined }) };
}

function WhenFields({ form }: { form: UseFormReturn<PriceValues> }) {
  const { t } = useTranslation("prices");
  const when = useWatch({ control: form.control, name: "when" });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <ChoiceField
        name="when"
        label={t("add.from")}
        choices={[
          { id: "now", label: t("add.from.now") },
          { id: "later", label: t("add.from.later") },
        ]}
      />
      {when === "later" && <TimeField name="effectiveFrom" label={t("add.from.date")} isRequired />}
    </div>
  );
}

function Preview({
  form,
  owner,
  currency,
}: {
  form: UseFormReturn<PriceValues>;
  owner: Owner;
  currency: string;
}) {
  const { t } = useTranslation("prices");
  useWatch({ control: form.control });
  const values = form.getValues();
  const preview = usePricePreview("prices.preview", toInput(values, owner));
  const refusal = preview.data?.refusal ?? null;
  return (
    <section className="flex flex-col gap-2 border-t border-line pt-4" aria-live="polite">
      <h3 className="font-semibold">{t("preview.title")}</h3>
      {preview.error && <p className="text-bad">{preview.error.message}</p>}
      {!preview.error && preview.data && <PreviewTable cells={preview.data.cells} currency={currency} />}
      {!preview.error && !preview.data && <p className="text-muted">{t("preview.empty")}</p>}
      {refusal !== null && (
        <>
          <p className="text-warn">{refusal}</p>
          <SwitchField name="isForced" label={t("add.force")} />
        </>
      )}
    </section>
  );
}
