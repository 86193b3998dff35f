import { RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { OverlapField, DEFAULT_OVERLAP } from "../../ui/forms/overlap-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { useActing } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import type { Endpoint } from "../organizations/views.ts";

interface WebhookActsProps {
  view: Endpoint;
  onSecret(secret: string): void;
}

/** What may be done with an endpoint. */
export function WebhookActs({ view, onSecret }: WebhookActsProps) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const [act, setAct] = useState<"rotate" | "remove" | null>(null);
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
      <RotateDialog view={view} onSecret={onSecret} isOpen={act === "rotate"} onClose={() => setAct(null)} />
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

function RotateDialog({
  view,
  onSecret,
  isOpen,
  onClose,
}: WebhookActsProps & { isOpen: boolean; onClose(): void }) {
  const { t } = useTranslation("settings");
  const form = useForm({ defaultValues: { overlap: DEFAULT_OVERLAP } });
  const rotate = useActing("webhooks.rotate", ["webhooks"]);
  return (
    <FormDialog
      title={t("webhook.rotate.title")}
      form={form}
      size="s"
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={t("webhook.rotate")}
      onSubmit={async ({ overlap }) => {
        const { secret } = await rotate.mutateAsync({ id: view.id, overlapMs: Number(overlap) });
        showToast(t("webhook.rotated"));
        onSecret(secret);
      }}
    >
      <p className="text-muted">{t("webhook.rotate.what")}</p>
      <OverlapField
        name="overlap"
        label={t("webhook.rotate.overlap")}
        mostDays={7}
        none={t("webhook.rotate.overlap.none")}
      />
    </FormDialog>
  );
}
