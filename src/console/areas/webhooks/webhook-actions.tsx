import { RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { RotateDialog } from "../../ui/forms/rotate-dialog.tsx";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";

export type Endpoint = Output<"webhooks.list">["data"][number];

interface WebhookActionsProps {
  view: Endpoint;
  onSecret(secret: string): void;
}

export function WebhookActions({ view, onSecret }: WebhookActionsProps) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const [open, setOpen] = useState<"rotate" | "remove" | null>(null);
  const rotate = useOperationMutation("webhooks.rotate", ["webhooks"]);
  const remove = useOperationMutation("webhooks.remove", ["webhooks", "deliveries"]);
  if (!can("admin")) return null;
  const url = view.url ?? t("webhook.url.jobs");
  return (
    <>
      <ActionMenu
        label={t("actions", { name: url })}
        actions={[
          ...(view.format === "standard"
            ? [{ label: t("webhook.rotate"), icon: RefreshCw, onAction: () => setOpen("rotate") }]
            : []),
          {
            label: t("webhook.remove"),
            icon: Trash2,
            isDangerous: true,
            onAction: () => setOpen("remove"),
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
        isOpen={open === "rotate"}
        onClose={() => setOpen(null)}
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
        isOpen={open === "remove"}
        onClose={() => setOpen(null)}
        onConfirm={async () => {
          await remove.mutateAsync({ id: view.id });
          showToast(t("webhook.removed"));
        }}
      />
    </>
  );
}
