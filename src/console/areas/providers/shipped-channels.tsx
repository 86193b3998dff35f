import { useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { fieldsOf, writtenSettings, type ChannelValues, type Provider } from "./channel-values.ts";

/** The names under which a new channel serves shipped models; choosing one fills in what belongs to it. */
export function ShippedChannels({ provider }: { provider: Provider }) {
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
