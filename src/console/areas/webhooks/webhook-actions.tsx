import { RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { RotateDialog } from "../../ui/forms/rotate-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { useActing } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import type { Output } from "../../api/call.ts";

/** As the gateway returns it. */
export type Endpoint = Output<"webhooks.list">["data"][number];

interface WebhookActsProps {
  view: Endpoint;
  onSecret(secret: string): void;
}

/** What may be done with an endpoint. */
export function WebhookActs({ view, onSecret }: WebhookActsProps) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const [act, setAct] = useState<"rotate" | "remove" | null>(null);
  const rotate = useActing("webhooks.rotate", ["webhooks"]);
  const remove = useActing("webhooks.remove", ["webhooks", "deliveries"]);
  if (!can("admin")) return null;
  const url = view.url ?? t("webhook.url.jobs");
  return (
    <>
      <ActionMenu
        label={t("acts", { name: url })}
        actions={[
          { label: t("webhook.rotate"), icon: RefreshCw, onAction: () => setAct("rotate") },
          {
            label: t("webhook.remove"),
            icon: Trash2,
            isDangerous: true,
            onAction: () => setAct("remove"),
          },
        ]}
      />
      <RotateDialog
        texts={{
          title: t("webhook.rotate.title"),
          what: t("webhook.rotate.what"),
          overlap: t("webhook.rotate.overlap"),
          none: t("webhook.rotate.overlap.none"),
          submit: t("webhook.rotate"),
        }}
        maxDays={7}
        isOpen={act === "rotate"}
        onClose={() => setAct(null)}
        onRotate={async (overlapMs) => {
          const { secret } = await rotate.mutateAsync({ id: view.id, overlapMs });
          showToast(t("webhook.rotated"));
          onSecret(secret);
        }}
      />
      <ConfirmDialog
        title={t("webhook.remove.title")}
        consequences={<span className="break-words">{t("webhook.remove.what", { url })}</span>}
        confirmLabel={t("webhook.remove")}
        isOpen={act === "remove"}
        onClose={() => setAct(null)}
        onConfirm={async () => {
          await remove.mutateAsync({ id: view.id });
          showToast(t("webhook.removed"));
        }}
      />
    </>
  );
}
