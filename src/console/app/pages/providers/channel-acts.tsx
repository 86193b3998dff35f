import { useNavigate } from "@tanstack/react-router";
import { KeyRound, Trash2 } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { showToast } from "../../components/toast.tsx";
import type { Output } from "../../lib/api.ts";
import { useActing } from "../../lib/queries.ts";
import { CredentialField } from "./channel-form.tsx";
import { RemovalConsequences } from "./channel-uses.tsx";

type Channel = Output<"channels.get">;

/** What is done with a channel as a whole: another credential, and removal. */
export function ChannelActs({ channel }: { channel: Channel }) {
  const { t } = useTranslation("providers");
  const navigate = useNavigate();
  const { id, hasCredential, uses } = channel;
  const [open, setOpen] = useState<"credential" | "removal" | null>(null);
  const remove = useActing("channels.remove", ["channels", "models", "routes", "providers"]);
  const removeNow = async () => {
    await remove.mutateAsync({ id, force: true });
    showToast(t("remove.done"));
    await navigate({ to: "/models/providers" });
  };
  return (
    <>
      {hasCredential && (
        <Button icon={KeyRound} onPress={() => setOpen("credential")}>
          {t("credential.change")}
        </Button>
      )}
      <Button icon={Trash2} onPress={() => setOpen("removal")}>
        {t("remove")}
      </Button>
      <ChangeCredential channel={channel} isOpen={open === "credential"} onClose={() => setOpen(null)} />
      <ConfirmDialog
        title={t("remove.title", { id })}
        consequences={<RemovalConsequences uses={uses} hasCredential={hasCredential} />}
        confirmLabel={t("remove")}
        name={id}
        isOpen={open === "removal"}
        onClose={() => setOpen(null)}
        onConfirm={removeNow}
      />
    </>
  );
}

function ChangeCredential({
  channel: { id, version },
  isOpen,
  onClose,
}: {
  channel: Channel;
  isOpen: boolean;
  onClose(): void;
}) {
  const { t } = useTranslation("providers");
  const form = useForm({ defaultValues: { credential: "" } });
  const update = useActing("channels.update", ["channels"]);
  const submit = async ({ credential }: { credential: string }) => {
    await update.mutateAsync({ id, credential, ...(version !== null && { version }) });
    showToast(t("credential.changed"));
  };
  return (
    <FormDialog
      title={t("credential.change")}
      size="s"
      form={form}
      isOpen={isOpen}
      onClose={onClose}
      onSubmit={submit}
    >
      <CredentialField provider={{ credential: "required" }} />
    </FormDialog>
  );
}
