import { useFormContext } from "react-hook-form";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useChannelOptions } from "../../api/options.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { ChoiceField, ThreeStateField } from "../../ui/forms/choice-field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { DeliveryTable } from "./delivery-table.tsx";

/**
 * The form for an organization's settings about delivered pictures, slow vendors, clients that disconnect, and
 * refusals.
 */
export function ControlForm({ organization }: { organization: Output<"organizations.get"> }) {
  const { t } = useTranslation("images");
  const form = useViewForm<ControlValues>(toValues(organization), {
    // A check when a field loses focus could remove an error and move the button that the user is pressing.
    reValidateMode: "onSubmit",
  });
  const update = useOperationMutation("organizations.update", ["organizations", "audit"]);
  const isReadOnly = !useCan()("admin");
  const save = async (values: ControlValues) => {
    const { id, version } = organization;
    await update.mutateAsync({ id, version, settings: toSettings(values) });
    showToast(t("saved"));
  };
  return (
    <Form
      form={form}
      onSubmit={save}
      subject={{ kind: "organization", id: organization.id, version: organization.version }}
    >
      <DeliveryCard isReadOnly={isReadOnly} />
      <TimeoutCard isReadOnly={isReadOnly} />
      <CallerCard isReadOnly={isReadOnly} />
    </Form>
  );
}

interface PartProps {
  isReadOnly: boolean;
}

function DeliveryCard({ isReadOnly }: PartProps) {
  const { t } = useTranslation("images");
  const { watch } = useFormContext<ControlValues>();
  return (
    <Card title={t("delivery")} about={t("delivery.about")}>
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="flex flex-col gap-5">
          <ThreeStateField
            name="settings.forceImageUrls"
            label={t("forceImageUrls")}
            help={t("forceImageUrls.help")}
            isDisabled={isReadOnly}
          />
          <SwitchField
            name="settings.nativeImageUrls"
            label={t("nativeImageUrls")}
            help={t("nativeImageUrls.help")}
            isDisabled={isReadOnly}
          />
          <NumberField
            name="settings.linkHours"
            label={t("linkHours")}
            help={t("linkHours.help")}
            minimum={0.01}
            maximum={168}
            unit={t("hours")}
            placeholder={t("asConfigured")}
            isDisabled={isReadOnly}
          />
        </div>
        <DeliveryTable force={watch("settings.forceImageUrls")} />
      </div>
    </Card>
  );
}

function TimeoutCard({ isReadOnly }: PartProps) {
  const { t } = useTranslation("images");
  const { watch } = useFormContext<ControlValues>();
  const isOff = !watch("cancelsOnTimeout");
  const channels = [{ id: "", label: t("nextTarget") }, ...useChannelOptions()];
  return (
    <Card title={t("timeout")} about={t("timeout.about")}>
      <div className="flex flex-col gap-5">
        <SwitchField
          name="cancelsOnTimeout"
          label={t("cancelsOnTimeout")}
          help={t("cancelsOnTimeout.help")}
          isDisabled={isReadOnly}
        />
        <div className="grid gap-4 sm:grid-cols-2 lg:max-w-3xl">
          <NumberField
            name="fallbackSeconds"
            label={t("fallbackSeconds")}
            help={t("fallbackSeconds.help")}
            minimum={1}
            maximum={3600}
            unit={t("seconds")}
            isRequired={!isOff}
            isDisabled={isReadOnly || isOff}
          />
          <SelectField
            name="settings.fallbackChannel"
            label={t("fallbackChannel")}
            help={t("fallbackChannel.help")}
            options={channels}
            isDisabled={isReadOnly || isOff}
          />
        </div>
      </div>
    </Card>
  );
}

function CallerCard({ isReadOnly }: PartProps) {
  const { t } = useTranslation("images");
  return (
    <Card title={t("calls")} about={t("calls.about")}>
      <div className="flex flex-col gap-5">
        <ChoiceField
          name="settings.callerGone"
          label={t("callerGone")}
          help={t("callerGone.help")}
          choices={[
            { id: "abort", label: t("callerGone.abort") },
            { id: "drain", label: t("callerGone.drain") },
          ]}
          isDisabled={isReadOnly}
        />
        <SwitchField
          name="settings.failOverRefusals"
          label={t("failOverRefusals")}
          help={t("failOverRefusals.help")}
          isDisabled={isReadOnly}
        />
      </div>
    </Card>
  );
}

type Organization = Output<"organizations.get">;
type Settings = Organization["settings"];

/** The values of the form. `settings` has the operation's field names, because the gateway's errors contain them. */
interface ControlValues {
  settings: Pick<
    Settings,
    "forceImageUrls" | "nativeImageUrls" | "linkHours" | "callerGone" | "failOverRefusals"
  > & {
    /** Id of the fallback channel; empty for the next target of the route. */
    fallbackChannel: string;
  };
  cancelsOnTimeout: boolean;
  fallbackSeconds: number | null;
}

const MS = 1_000;

function toValues({ settings }: Organization): ControlValues {
  const {
    fallbackAfterMs,
    fallbackChannel,
    promptLogDays: _log,
    refuseIgnored: _ignored,
    ...rest
  } = settings;
  return {
    settings: { ...rest, fallbackChannel: fallbackChannel ?? "" },
    cancelsOnTimeout: fallbackAfterMs !== null,
    fallbackSeconds: fallbackAfterMs === null ? null : fallbackAfterMs / MS,
  };
}

function toSettings({
  settings,
  cancelsOnTimeout,
  fallbackSeconds,
}: ControlValues): Omit<Settings, "promptLogDays" | "refuseIgnored"> {
  return {
    ...settings,
    fallbackChannel: settings.fallbackChannel === "" ? null : settings.fallbackChannel,
    fallbackAfterMs: cancelsOnTimeout && fallbackSeconds !== null ? Math.round(fallbackSeconds * MS) : null,
  };
}
