import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useFilter } from "react-aria-components/Autocomplete";
import { Input } from "react-aria-components/Input";
import { SearchField } from "react-aria-components/SearchField";
import { useForm, useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { call } from "../../api/call.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { operatorText } from "../../texts/operator-text.ts";
import { INPUT } from "../../ui/forms/field-class.ts";
import { Form } from "../../ui/forms/form.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { ChannelFields } from "./channel-form.tsx";
import {
  creationOf,
  fieldsOf,
  newValues,
  writtenSettings,
  type ChannelValues,
  type ProviderView,
} from "./channel-values.ts";
import { TestConnection } from "./test-connection.tsx";

/**
 * The page that connects a vendor in two steps: the user chooses the provider, then enters the settings. The address
 * contains the provider.
 */
export default function ProviderAddPage() {
  const { t } = useTranslation("providers");
  const { filters } = useFilters();
  const query = useOperationQuery("providers.list", {});
  return (
    <Page title={t("add")} actions={<ButtonLink to="/models/providers">{t("detail.all")}</ButtonLink>}>
      <QueryState query={query}>
        {({ data }) => {
          const provider = data.find(({ name }) => name === filters["provider"]);
          return provider ? <AddForm key={provider.name} provider={provider} /> : <Choice providers={data} />;
        }}
      </QueryState>
    </Page>
  );
}

function Choice({ providers }: { providers: readonly ProviderView[] }) {
  const { t } = useTranslation("providers");
  const { contains } = useFilter({ sensitivity: "base" });
  const [typed, setTyped] = useState("");
  const found = providers.filter(
    ({ name, title }) => name !== "sandbox" && contains(`${title} ${name}`, typed.trim()),
  );
  return (
    <Card title={t("form.provider")}>
      <div className="flex flex-col gap-4">
        <SearchField aria-label={t("form.provider.search")} value={typed} onChange={setTyped} autoFocus>
          <Input
            placeholder={t("form.provider.search")}
            className={`${INPUT} max-w-md [&::-webkit-search-cancel-button]:hidden`}
          />
        </SearchField>
        {found.length === 0 && <EmptyState>{t("form.provider.none")}</EmptyState>}
        <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {found.map(({ name, title, shippedChannels }) => (
            <li key={name} className="flex flex-col gap-0.5 rounded-lg border border-line p-3">
              <TextLink to="/models/providers/add" search={{ provider: name }}>
                {title}
              </TextLink>
              <span className="text-muted">
                <ModelsServed count={shippedChannels.reduce((sum, { models }) => sum + models, 0)} />
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

function ModelsServed({ count }: { count: number }) {
  const { t } = useTranslation("providers");
  return count === 0 ? t("form.provider.own") : t("form.provider.models", { count });
}

function AddForm({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation("providers");
  const navigate = useNavigate();
  const form = useForm<ChannelValues>({ defaultValues: newValues(provider) });
  const create = useOperationMutation("channels.create", [
    "channels",
    "models",
    "providers",
    "routes",
    "overview",
  ]);
  const channels = useOperationQuery("channels.list", {});
  const endsSandbox = channels.data?.data.some((channel) => channel.provider === "sandbox") === true;
  const [failed, setFailed] = useState<{ values: ChannelValues; message: string } | null>(null);
  const connect = async (values: ChannelValues) => {
    const { id } = await create.mutateAsync(creationOf(values, provider));
    showToast(t("form.created", { id }));
    form.reset(values);
    void navigate({ to: "/models/providers/$id", params: { id } });
  };
  const readTest = (values = form.getValues()) => {
    const { id: _, ...input } = creationOf(values, provider);
    return input;
  };
  // The connection is tested first, so that a wrong credential is found before requests use the channel.
  const submit = async (values: ChannelValues) => {
    const { ok, ...outcome } = await call("channels.test", readTest(values));
    if (ok) await connect(values);
    else setFailed({ values, message: operatorText(outcome) });
  };
  return (
    <Card
      title={provider.title}
      actions={<TextLink to="/models/providers/add">{t("form.provider.back")}</TextLink>}
    >
      <div className="max-w-2xl">
        <Form form={form} submitLabel={t("form.create")} onSubmit={submit} isNew>
          <ShippedChannels provider={provider} />
          <TextField
            name="id"
            label={t("form.id")}
            help={t("form.id.help")}
            placeholder={provider.name}
            isMono
          />
          <ChannelFields provider={provider} />
          {endsSandbox && <p className="text-muted">{t("form.sandboxEnds")}</p>}
          <TestConnection read={() => readTest()} />
        </Form>
        <ConnectAnyway
          message={failed?.message ?? null}
          onClose={() => setFailed(null)}
          onConfirm={async () => failed && (await connect(failed.values))}
        />
      </div>
    </Card>
  );
}

/** Asks for confirmation before adding a channel whose test has failed. With `message` null the dialog is closed. */
function ConnectAnyway({
  message,
  ...props
}: {
  message: string | null;
  onClose(): void;
  onConfirm(): Promise<unknown>;
}) {
  const { t } = useTranslation("providers");
  return (
    <ConfirmDialog
      title={t("form.anyway.title")}
      consequences={
        <>
          <p>{message}</p>
          <p>{t("form.anyway.about")}</p>
        </>
      }
      confirmLabel={t("form.anyway")}
      isOpen={message !== null}
      {...props}
    />
  );
}

/** Lists the ids with which a new channel serves shipped models. Choosing one fills in the id, address and settings. */
function ShippedChannels({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation("providers");
  const { setValue } = useFormContext<ChannelValues>();
  const current = useWatch<ChannelValues, "id">({ name: "id" });
  const { shippedChannels } = provider;
  if (shippedChannels.every(({ models }) => models === 0)) return null;
  const choose = ({ id, baseUrl, settings }: (typeof shippedChannels)[number]) => {
    const options = { shouldDirty: true } as const;
    setValue("id", id, options);
    setValue("baseUrl", baseUrl === provider.defaultBaseUrl ? "" : (baseUrl ?? ""), options);
    setValue("settings", writtenSettings(fieldsOf(provider), settings), options);
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 font-medium">{t("form.shipped")}</legend>
      <div className="flex flex-wrap gap-2">
        {shippedChannels.map((channel) => (
          <button
            key={channel.id}
            type="button"
            disabled={channel.isTaken}
            aria-pressed={current === channel.id}
            onClick={() => choose(channel)}
            className="rounded-md border border-line-strong px-3 py-1.5 text-left hover:bg-hover disabled:opacity-60 aria-pressed:border-accent aria-pressed:bg-accent-soft"
          >
            <span className="font-mono text-xs">{channel.id}</span>{" "}
            <span className="text-muted">
              {channel.isTaken ? t("form.taken") : t("form.provider.models", { count: channel.models })}
            </span>
          </button>
        ))}
      </div>
    </fieldset>
  );
}
