import { Plus } from "lucide-react";
import { useState } from "react";
import { useController } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useChannelOptions } from "../../api/options.ts";
import { Button } from "../../ui/forms/button.tsx";
import { PlainSelect } from "./plain-select.tsx";
import { VendorModelInput } from "./vendor-model.tsx";
import { targetName, type DraftTarget, type RouteDraft } from "./route-draft.ts";

/** Adds one of the known targets to the route in the surrounding form. Shows nothing when all are in the route. */
export function AddKnownTarget({ known }: { known: readonly DraftTarget[] }) {
  const { t } = useTranslation("models");
  const { field } = useController<RouteDraft, "targets">({ name: "targets" });
  const [chosen, setChosen] = useState<string | null>(null);
  const present = new Set(field.value.map(targetName));
  const choices = new Map(known.map((target) => [targetName(target), target]));
  const options = [...choices.keys()].filter((name) => !present.has(name)).map((id) => ({ id, label: id }));
  const target = chosen === null ? undefined : choices.get(chosen);
  const add = () => {
    if (target) field.onChange([...field.value, { ...target, weight: 1 }]);
    setChosen(null);
  };
  if (options.length === 0) return null;
  return (
    <div className="flex flex-wrap items-end gap-3">
      <PlainSelect
        label={t("route.target")}
        value={chosen}
        options={options}
        none={t("route.target.none")}
        onChange={setChosen}
      />
      <Button icon={Plus} isDisabled={!target} onPress={add}>
        {t("route.add")}
      </Button>
    </div>
  );
}

/** Adds any target to the route in the surrounding form. */
export function AddTarget() {
  const { t } = useTranslation("models");
  const { field } = useController<RouteDraft, "targets">({ name: "targets" });
  const channels = useChannelOptions();
  const [channel, setChannel] = useState<string | null>(null);
  const [typed, setTyped] = useState("");
  const upstreamModel = typed.trim() || (field.value[0]?.upstreamModel ?? "");
  const isKnown =
    channel !== null &&
    field.value.some((target) => targetName(target) === targetName({ channel, upstreamModel }));
  const isReady = channel !== null && upstreamModel !== "" && !isKnown;
  const add = () => {
    if (channel === null || !isReady) return;
    field.onChange([...field.value, { channel, upstreamModel, weight: 1 }]);
    setChannel(null);
    setTyped("");
  };
  return (
    <div className="flex flex-wrap items-end gap-3">
      <PlainSelect
        label={t("route.channel")}
        value={channel}
        options={channels}
        none={t("route.channel.none")}
        onChange={setChannel}
      />
      <VendorModelInput
        label={t("route.upstream")}
        channel={channel}
        value={typed}
        onChange={setTyped}
        placeholder={field.value[0]?.upstreamModel ?? ""}
      />
      <Button icon={Plus} isDisabled={!isReady} onPress={add}>
        {t("route.add")}
      </Button>
    </div>
  );
}
