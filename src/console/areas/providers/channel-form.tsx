import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { Disclosure, DisclosurePanel } from "react-aria-components/Disclosure";
import { useFormState, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { LinesField } from "../../ui/forms/lines-field.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { DEADLINES, fieldsOf, type ChannelValues, type ProviderView } from "./channel-values.ts";
import { helpOf, type SettingField } from "./setting-fields.ts";

/** The fields of a channel. The fields for its settings are made from its provider's schema. */
export function ChannelFields({
  provider,
  present,
}: {
  provider: ProviderView;
  /** An existing channel's credential: its last characters, and whether there is one. Absent for a new channel. */
  present?: { credentialEnd: string | null; hasCredential: boolean };
}) {
  const { t } = useTranslation("providers");
  const required = fieldsOf(provider).filter(({ isRequired }) => isRequired);
  return (
    <>
      {provider.credential !== "none" && (
        <CredentialField provider={provider} {...(present && { present })} />
      )}
      <TextField
        name="baseUrl"
        label={t("form.baseUrl")}
        inputMode="url"
        isRequired={provider.needsBaseUrl}
        placeholder={provider.defaultBaseUrl ?? "https://"}
        help={
          provider.defaultBaseUrl === null
            ? undefined
            : t("form.baseUrl.help", { address: provider.defaultBaseUrl })
        }
      />
      {provider.hasRegion && <RegionField regions={provider.regions} />}
      {required.map((field) => (
        <Setting key={field.name} field={field} provider={provider.name} />
      ))}
      <MoreSettings provider={provider} />
    </>
  );
}

const HIDDEN = ["settings", "headers", "maxConcurrent", "deadlines", "isOwnServer"] as const;

/** The settings that most channels do not change. */
function MoreSettings({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation("providers");
  const fields = fieldsOf(provider).filter(({ isRequired }) => !isRequired);
  const [isOpen, setOpen] = useState(false);
  const { errors } = useFormState<ChannelValues>();
  // When the gateway refuses one of these settings, the section is opened, so that the error is visible.
  const isRefused = HIDDEN.some((name) => errors[name] !== undefined);
  return (
    <Disclosure isExpanded={isOpen || isRefused} onExpandedChange={setOpen} className="flex flex-col gap-4">
      <AriaButton slot="trigger" className="group flex w-fit items-center gap-1 rounded-sm font-medium">
        <ChevronRight size={16} aria-hidden className="transition-transform group-aria-expanded:rotate-90" />
        {t("form.more")}
      </AriaButton>
      <DisclosurePanel>
        <div className="flex flex-col gap-5 border-l-2 border-line pl-4">
          {fields.map((field) => (
            <Setting key={field.name} field={field} provider={provider.name} />
          ))}
          {provider.hasHeaders && (
            <LinesField name="headers" label={t("form.headers")} help={t("form.headers.help")} />
          )}
          <NumberField
            name="maxConcurrent"
            label={t("form.maxConcurrent")}
            help={t("form.maxConcurrent.help")}
            minimum={1}
          />
          <TimeLimits />
          <SwitchField name="isOwnServer" label={t("form.isOwnServer")} help={t("form.isOwnServer.help")} />
        </div>
      </DisclosurePanel>
    </Disclosure>
  );
}

/**
 * The field for a credential. Of an existing credential, at most the last characters are shown. It stays unchanged
 * while the field is empty.
 */
function CredentialField({
  provider,
  present,
}: {
  provider: Pick<ProviderView, "credential" | "defaultBaseUrl">;
  present?: { credentialEnd: string | null; hasCredential: boolean };
}) {
  const { t } = useTranslation("providers");
  const keeps = present?.hasCredential === true;
  const baseUrl = useWatch<ChannelValues, "baseUrl">({ name: "baseUrl" });
  // Only a server of the operator's own may have no credential.
  const isVendors = baseUrl.trim() === "" && provider.defaultBaseUrl?.startsWith("https:") === true;
  const help =
    keeps && present.credentialEnd !== null
      ? t("form.credential.keep", { end: present.credentialEnd })
      : t(keeps ? "form.credential.keepHidden" : "form.credential.help");
  return (
    <TextField
      name="credential"
      type="password"
      label={t("form.credential")}
      help={help}
      autoComplete="new-password"
      isMono
      isRequired={!keeps && (provider.credential === "required" || isVendors)}
    />
  );
}

function RegionField({ regions }: { regions: readonly string[] | null }) {
  const { t } = useTranslation("providers");
  if (regions === null) return <TextField name="region" label={t("form.region")} />;
  const options = [{ id: "", label: t("form.default") }, ...regions.map((id) => ({ id, label: id }))];
  return <SelectField name="region" label={t("form.region")} options={options} />;
}

function TimeLimits() {
  const { t } = useTranslation("providers");
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 font-medium">{t("form.deadlines")}</legend>
      <div className="grid gap-3 sm:grid-cols-3">
        {DEADLINES.map((name) => (
          <NumberField
            key={name}
            name={`deadlines.${name}`}
            label={t(`form.${name}`)}
            minimum={1}
            unit="ms"
          />
        ))}
      </div>
    </fieldset>
  );
}

/** The field for one setting of the provider, chosen by the type of the setting. */
function Setting({ field, provider }: { field: SettingField; provider: string }) {
  const { t } = useTranslation("providers");
  const { name, kind, isRequired, fallback } = field;
  const explained = field.help === null ? undefined : helpOf(provider, name);
  const help = explained ? t(`setting.${explained}`) : field.help;
  const usual = fallback === undefined ? t("form.default") : t("form.defaultOf", { value: String(fallback) });
  const common = { name: `settings.${name}`, label: name, isRequired, ...(help !== null && { help }) };
  if (kind === "switch" || kind === "choice") {
    const choices = kind === "switch" ? [true, false] : field.choices;
    const options = choices.map((choice) => ({ id: String(choice), label: labelOf(choice) }));
    return (
      <SelectField {...common} options={isRequired ? options : [{ id: "", label: usual }, ...options]} />
    );
  }
  if (kind === "json") return <TextField {...common} isMono lines={3} placeholder="{}" />;
  const placeholder = fallback === undefined ? undefined : String(fallback);
  return (
    <TextField
      {...common}
      inputMode={kind === "number" ? "numeric" : "text"}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
  function labelOf(choice: string | number | boolean): string {
    return typeof choice === "boolean" ? t(choice ? "form.yes" : "form.no") : String(choice);
  }
}
