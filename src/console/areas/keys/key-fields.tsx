import { useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import type { Input } from "../../api/call.ts";
import { useModelOptions } from "../../api/options.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { AllOrSomeField } from "../../ui/forms/all-or-some-field.tsx";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { LimitsField, toLimits } from "../../ui/forms/limits-field.tsx";
import { LinesField } from "../../ui/forms/lines-field.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { TimeField } from "../../ui/forms/time-field.tsx";
import type { Key } from "./key-view.tsx";

const EXPIRY_DAYS = ["30", "90", "365"] as const;
const DAY_MS = 86_400_000;

/** The values that the form for a new key and the form for an existing key have in common. */
export interface KeyValues {
  name: string;
  scopes: Key["scopes"][number];
  models: "*" | string[];
  addresses: string[] | null;
  limits: Key["limits"];
  refuseIgnored: boolean;
  /** `never`, a number of days, or `at` for the time in `expiresAt`. */
  expiry: string;
  expiresAt: string | null;
}

export const NEW_KEY: KeyValues = {
  name: "",
  scopes: "ai:*",
  models: "*",
  addresses: null,
  limits: {},
  refuseIgnored: false,
  expiry: "never",
  expiresAt: null,
};

export function valuesOf(key: Key): KeyValues {
  const { name, scopes, models, addresses, limits, refuseIgnored, expiresAt } = key;
  return {
    name,
    scopes: scopes.length === 1 && scopes[0] ? scopes[0] : "ai:*",
    models,
    addresses,
    limits,
    refuseIgnored,
    expiry: expiresAt === null ? "never" : "at",
    expiresAt,
  };
}

/** Converts the form's values to the operation's input. */
export function toInput(
  values: KeyValues,
): Pick<
  Input<"keys.create">,
  "name" | "scopes" | "models" | "addresses" | "limits" | "refuseIgnored" | "expiresAt"
> {
  const { name, scopes, models, addresses, limits, refuseIgnored } = values;
  const expiresAt = expiryOf(values);
  return { name, scopes: [scopes], models, addresses, limits: toLimits(limits), refuseIgnored, expiresAt };
}

function expiryOf({ expiry, expiresAt }: KeyValues): string | null {
  if (expiry === "never") return null;
  return expiry === "at" ? expiresAt : new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
}

/** The fields of a key's form, without the fields that only a new key has. */
export function KeyFields() {
  const { t } = useTranslation("keys");
  const models = useModelOptions();
  return (
    <>
      <ChoiceField
        name="scopes"
        label={t("form.scopes")}
        choices={[
          { id: "ai:*", label: t("scope.all") },
          { id: "ai:image", label: t("scope.image") },
          { id: "ai:llm", label: t("scope.text") },
        ]}
      />
      <AllOrSomeField
        name="models"
        label={t("form.models")}
        allLabel={t("form.models.all")}
        options={models}
      />
      <LinesField
        name="addresses"
        label={t("form.addresses")}
        help={t("form.addresses.help")}
        placeholder="10.0.0.0/8"
        whenEmpty={null}
      />
      <ExpiryFields />
      <KeyLimits />
      <SwitchField name="refuseIgnored" label={t("form.refuseIgnored")} help={t("form.refuseIgnored.help")} />
    </>
  );
}

export function NameField() {
  const { t } = useTranslation("keys");
  return <TextField name="name" label={t("form.name")} help={t("form.name.help")} isRequired autoFocus />;
}

function ExpiryFields() {
  const { t } = useTranslation("keys");
  const { control } = useFormContext<KeyValues>();
  const expiry = useWatch({ control, name: "expiry" });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        name="expiry"
        label={t("form.expiry")}
        options={[
          { id: "never", label: t("form.expiry.never") },
          ...EXPIRY_DAYS.map((days) => ({ id: days, label: t("form.expiry.days", { count: Number(days) }) })),
          { id: "at", label: t("form.expiry.at") },
        ]}
      />
      {expiry === "at" && <TimeField name="expiresAt" label={t("form.expiry.date")} isRequired />}
    </div>
  );
}

function KeyLimits() {
  const defaults = useOperationQuery("limits.defaults", {});
  return <LimitsField name="limits" defaults={defaults.data?.key ?? {}} />;
}
