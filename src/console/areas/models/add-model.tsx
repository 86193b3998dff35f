import { useNavigate } from "@tanstack/react-router";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useChannelOptions } from "../../api/options.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { MoneyField } from "../../ui/forms/money-field.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { VendorModelField } from "./vendor-model.tsx";
import { NEW_MODEL, newModel, type NewModelValues } from "./new-model.ts";

const MAX_LISTED = 1000;

/** Adds a model with its name for callers, its target and its price. */
export function AddModel({ onClose }: { onClose(): void }) {
  const { t } = useTranslation("models");
  const navigate = useNavigate();
  const form = useForm<NewModelValues>({ defaultValues: NEW_MODEL });
  const type = form.watch("type");
  const channels = useChannelOptions();
  const { data: images } = useOperationQuery("models.list", { type: "image", limit: MAX_LISTED });
  const create = useOperationMutation("models.create", ["models", "routes"]);
  const submit = async (values: NewModelValues) => {
    const { id } = await create.mutateAsync(newModel(values, images?.data ?? []));
    showToast(t("form.saved"));
    void navigate({ to: "/models/detail", search: { model: id } });
  };
  return (
    <FormDialog title={t("form.add")} form={form} isOpen onClose={onClose} onSubmit={submit}>
      <TextField name="id" label={t("form.id")} help={t("form.id.help")} isMono isRequired autoFocus />
      <TextField name="displayName" label={t("form.displayName")} />
      <ChoiceField
        name="type"
        label={t("form.type")}
        choices={(["chat", "messages", "embedding", "image"] as const).map((id) => ({
          id,
          label: t(`type.${id}`),
        }))}
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField name="channel" label={t("form.channel")} options={channels} isRequired />
        <VendorModelField label={t("form.upstream")} />
      </div>
      {type === "image" && (
        <SelectField
          name="like"
          label={t("form.like")}
          help={t("form.like.help")}
          options={(images?.data ?? []).map(({ id, displayName }) => ({
            id,
            label: displayName,
            detail: id,
          }))}
          isRequired
        />
      )}
      {type === "embedding" && (
        <NumberField name="dimensions" label={t("cap.dimensions")} minimum={1} isRequired />
      )}
      {(type === "chat" || type === "messages") && (
        <NumberField name="maxOutputTokens" label={t("form.maxOutputTokens")} minimum={1} isRequired />
      )}
      <PriceFields type={type} />
    </FormDialog>
  );
}

function PriceFields({ type }: { type: NewModelValues["type"] }) {
  const { t } = useTranslation("models");
  if (type === "image")
    return (
      <MoneyField
        name="pricePerImage"
        label={t("form.pricePerImage")}
        help={t("form.price.later")}
        currency="USD"
      />
    );
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <MoneyField
        name="priceInput"
        label={t("form.priceInput")}
        help={t("form.price.later")}
        currency="USD"
      />
      {type !== "embedding" && <MoneyField name="priceOutput" label={t("form.priceOutput")} currency="USD" />}
    </div>
  );
}
