import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import type { Output } from "../../api/call.ts";
import { useActing } from "../../api/queries.ts";
import { RemovalConsequences } from "./channel-uses.tsx";

type Channel = Output<"channels.get">;

/** Removes a channel, after saying what loses it. */
export function RemoveChannel({ channel }: { channel: Channel }) {
  const { t } = useTranslation("providers");
  const navigate = useNavigate();
  const { id, hasCredential, uses } = channel;
  const [isAsking, setAsking] = useState(false);
  const remove = useActing("channels.remove", ["channels", "models", "routes", "providers"]);
  const removeNow = async () => {
    await remove.mutateAsync({ id, force: true });
    showToast(t("remove.done"));
    await navigate({ to: "/models/providers" });
  };
  return (
    <>
      <Button icon={Trash2} onPress={() => setAsking(true)}>
        {t("remove")}
      </Button>
      <ConfirmDialog
        title={t("remove.title", { id })}
        consequences={<RemovalConsequences uses={uses} hasCredential={hasCredential} />}
        confirmLabel={t("remove")}
        name={id}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={removeNow}
      />
    </>
  );
}
