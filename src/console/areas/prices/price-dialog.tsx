import { ArrowRight } from "lucide-react";
import { useForm, useWatch, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { ApiError, call, type Input, type Output } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { operatorText } from "../../texts/operator-text.ts";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TimeField } from "../../ui/forms/time-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { formatCount, sentence } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import { AmountFields } from "./amount-fields.tsx";
import { emptyAmounts, toAmounts, withoutRowField, type AmountValues } from "./amounts.ts";
import { useCellText, type ModelPrices } from "./cells.ts";
import { usePricePreview } from "./preview.ts";

interface PriceValues extends AmountValues {
  when: "now" | "later";
  effectiveFrom: string | null;
  isForced: boolean;
  /** True when the user has confirmed a change by a factor of ten or more. */
  isMeant: boolean;
}

export interface PriceDialogProps {
  row: ModelPrices;
  currency: string;
  /** Null for the default price of all organizations. */
  organizationId: string | null;
  onClose(): void;
}

/** Adds a price row. Shows its effects first. */
export function PriceDialog({ row, currency, organizationId, onClose }: PriceDialogProps) {
  const { t } = useTranslation("prices");
  const form = useForm<PriceValues>({
    defaultValues: {
      ...emptyAmounts(row),
      when: "now",
      effectiveFrom: null,
      isForced: false,
      isMeant: false,
    },
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
        const { cells } = await call("prices.preview", input);
        if (!values.isMeant && factorOf(cells) >= LARGE_FACTOR)
          throw new ApiError(400, "bad_request", t("add.large.needed"), null, null);
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
  const input = toInput(values, owner);
  const preview = usePricePreview("prices.preview", input);
  const { refusal = null, refusalCode: code, refusalFigures: figures } = preview.data ?? {};
  return (
    <section className="flex flex-col gap-2 border-t border-line pt-4" aria-live="polite">
      <h3 className="font-semibold">{t("preview.title")}</h3>
      {preview.error && <p className="text-bad">{preview.error.message}</p>}
      {!preview.error && preview.data && <PreviewTable cells={preview.data.cells} currency={currency} />}
      {!preview.error && !preview.data && input === null && (
        <p className="text-muted">{t("preview.empty")}</p>
      )}
      {preview.data && <Consequence preview={preview.data} />}
      {preview.data && factorOf(preview.data.cells) >= LARGE_FACTOR && (
        <>
          <p className="text-warn">
            {t("add.large", { factor: formatCount(Math.round(factorOf(preview.data.cells))) })}
          </p>
          <SwitchField name="isMeant" label={t("add.large.meant")} />
        </>
      )}
      {refusal !== null && (
        <>
          <p className="text-warn">{sentence(operatorText({ message: refusal, code, figures }))}</p>
          <SwitchField name="isForced" label={t("add.force")} />
        </>
      )}
    </section>
  );
}

/** Shows which organizations a price change concerns, and the cost of their last week before and after the change. */
function Consequence({ preview: { consequence } }: { preview: Output<"prices.preview"> }) {
  const { t } = useTranslation("prices");
  const { organizations, currency, lastWeek } = consequence;
  const named = organizations.slice(0, MAX_NAMED).join(", ");
  const more = organizations.length - MAX_NAMED;
  return (
    <p>
      {organizations.length === 0
        ? t("consequence.nobody")
        : t("consequence.who", { count: organizations.length, names: more > 0 ? `${named}, …` : named })}{" "}
      {organizations.length > 0 && (
        <>
          {t("consequence.week")} <Money amount={lastWeek.before} currency={currency} />{" "}
          <ArrowRight size={14} aria-label={t("preview.after")} className="inline text-muted" />{" "}
          <strong>
            <Money amount={lastWeek.after} currency={currency} />
          </strong>
        </>
      )}
    </p>
  );
}

const MAX_NAMED = 5;
/** Factor from which a change must be confirmed, because a mistyped digit may have caused it. */
const LARGE_FACTOR = 10;

/** Returns the largest factor by which an amount rises or falls. Changes from or to zero are not counted. */
function factorOf(cells: readonly ComparedCell[]): number {
  const factors = cells.map(({ before, after }) => {
    const [one, other] = [Number(before ?? 0), Number(after ?? 0)];
    return one === 0 || other === 0 ? 1 : Math.max(one / other, other / one);
  });
  return Math.max(1, ...factors);
}

type ComparedCell = Output<"prices.preview">["cells"][number];

/** Shows the changed prices before and after a change. */
function PreviewTable({ cells, currency }: { cells: readonly ComparedCell[]; currency: string }) {
  const { t } = useTranslation("prices");
  const textOf = useCellText();
  const changed = cells.filter(({ before, after }) => before !== after);
  if (changed.length === 0) return <p className="text-muted">{t("preview.same")}</p>;
  return (
    <table className="w-full">
      <thead className="text-xs text-muted">
        <tr>
          <th scope="col" className="py-1 text-left font-medium">
            {t("preview.cell")}
          </th>
          <th scope="col" className="py-1 text-right font-medium">
            {t("preview.before")}
          </th>
          <th aria-hidden className="w-8" />
          <th scope="col" className="py-1 text-left font-medium">
            {t("preview.after")}
          </th>
        </tr>
      </thead>
      <tbody>
        {changed.map(({ cell, before, after }) => (
          <tr key={cell}>
            <td className="border-t border-line py-1.5">{textOf(cell)}</td>
            <td className="border-t border-line py-1.5 text-right text-muted">
              <Amount amount={before} currency={currency} />
            </td>
            <td aria-hidden className="border-t border-line px-2 text-muted">
              <ArrowRight size={14} />
            </td>
            <td className="border-t border-line py-1.5 font-medium">
              <Amount amount={after} currency={currency} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Amount({ amount, currency }: { amount: string | null; currency: string }) {
  const { t } = useTranslation("prices");
  return amount === null ? t("preview.none") : <Money amount={amount} currency={currency} />;
}
