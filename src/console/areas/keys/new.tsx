import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useCurrency } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { Form } from "../../ui/forms/form.tsx";
import { MoneyField } from "../../ui/forms/money-field.tsx";
import { OrganizationField, SelectField } from "../../ui/forms/select-field.tsx";
import { showProblem } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { requireAmount } from "../../ui/text/amount.ts";
import { KeyFields, NEW_KEY, NameField, toInput, type KeyValues } from "./key-fields.tsx";
import { NewSecret } from "./new-secret.tsx";

interface NewKeyValues extends KeyValues {
  organizationId: string | null;
  /** Amount of the key's budget; empty for no budget. */
  amount: string;
  period: "total" | "day" | "month";
}

/** The page with the form for a new key and all its restrictions. */
export default function NewKeyPage() {
  const { t } = useTranslation("keys");
  const navigate = useNavigate();
  const organization = useOrganization();
  const form = useForm<NewKeyValues>({
    values: { ...NEW_KEY, amount: "", period: "month", organizationId: organization.id },
    // The list of organizations may arrive after the user has begun to type. Typed values must stay.
    resetOptions: { keepDirtyValues: true },
  });
  const create = useCreation();
  const [made, setMade] = useState<Output<"keys.create"> | null>(null);
  return (
    <Page title={t("form.title")} about={t("form.intro")} back={{ to: "/keys", label: t("title") }}>
      <div className="max-w-2xl">
        <Card>
          <Form
            form={form}
            submitLabel={t("form.submit")}
            onSubmit={async (values) => setMade(await create(values))}
          >
            <NameField />
            <OrganizationField
              name="organizationId"
              label={t("form.organization")}
              help={t("form.organization.help")}
              isRequired
            />
            <BudgetFields organizationId={useWatch({ control: form.control, name: "organizationId" })} />
            <KeyFields />
          </Form>
        </Card>
      </div>
      {made && (
        <NewSecret
          made={made}
          onClose={() => void navigate({ to: "/keys/$id", params: { id: made.key.id } })}
        />
      )}
    </Page>
  );
}

/**
 * Returns a function that creates the key and, if an amount is given, its budget. If the budget cannot be created, the
 * key stays.
 */
function useCreation() {
  const { t } = useTranslation("keys");
  const createKey = useOperationMutation("keys.create", ["keys"]);
  const createBudget = useOperationMutation("budgets.create", ["budgets", "keys", "overview"]);
  return async ({ organizationId, amount, period, ...values }: NewKeyValues) => {
    if (amount !== "") requireAmount(amount, "amount", t("form.amount.wrong"));
    const made = await createKey.mutateAsync({ organizationId: organizationId ?? "", ...toInput(values) });
    if (amount === "") return made;
    try {
      await createBudget.mutateAsync({
        organizationId: made.key.organizationId,
        keyId: made.key.id,
        amount,
        period,
      });
    } catch (error) {
      showProblem(
        new Error(t("secret.budgetFailed", { message: error instanceof Error ? error.message : "" })),
      );
    }
    return made;
  };
}

function BudgetFields({ organizationId }: { organizationId: string | null }) {
  const { t } = useTranslation(["keys", "money"]);
  const currency = useCurrency(organizationId) ?? "";
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <MoneyField name="amount" label={t("form.budget")} help={t("form.budget.help")} currency={currency} />
      <SelectField
        name="period"
        label={t("form.budget.period")}
        options={(["month", "day", "total"] as const).map((id) => ({ id, label: t(`money:period.${id}`) }))}
      />
    </div>
  );
}
