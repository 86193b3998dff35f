import { Ban, KeyRound, LogOut, Pencil, ShieldOff, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOperationMutation } from "../../api/queries.ts";
import { useCan, useSession } from "../../api/session.ts";
import { ActionMenu, type Action } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { MemberDialog, type Member } from "./member-dialog.tsx";

const CONFIRMED = ["disable", "reset", "signOut", "totpOff", "remove"] as const;
/** The actions that ask for confirmation. */
type ConfirmedAction = (typeof CONFIRMED)[number];

interface MemberActionsProps {
  view: Member;
  onPassword(password: string): void;
}

/** The menu of an owner's actions on a member. */
export function MemberActions({ view, onPassword }: MemberActionsProps) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const session = useSession();
  const [open, setOpen] = useState<ConfirmedAction | "edit" | null>(null);
  const update = useOperationMutation("members.update", ["members"]);
  if (!can("owner")) return null;
  const isOther = view.id !== session.id;
  const enable = () =>
    update.mutate(
      { id: view.id, isDisabled: false },
      { onSuccess: () => showToast(t("member.enabled.done")), onError: showProblem },
    );
  const dangerous = (name: ConfirmedAction, icon: Action["icon"]): Action => ({
    label: t(`member.${name}`),
    ...(icon && { icon }),
    isDangerous: true,
    onAction: () => setOpen(name),
  });
  const actions: Action[] = [
    { label: t("member.edit"), icon: Pencil, onAction: () => setOpen("edit") },
    ...(isOther ? [{ label: t("member.reset"), icon: KeyRound, onAction: () => setOpen("reset") }] : []),
    { label: t("member.signOut"), icon: LogOut, onAction: () => setOpen("signOut") },
    ...(view.isTotpOn ? [dangerous("totpOff", ShieldOff)] : []),
    ...(view.isDisabled ? [{ label: t("member.enable"), icon: Undo2, onAction: enable }] : []),
    ...(!view.isDisabled && isOther ? [dangerous("disable", Ban)] : []),
    ...(isOther ? [dangerous("remove", Trash2)] : []),
  ];
  return (
    <>
      <ActionMenu label={t("actions", { name: view.name })} actions={actions} />
      <MemberDialog
        view={view}
        isOpen={open === "edit"}
        onClose={() => setOpen(null)}
        onPassword={onPassword}
      />
      {open !== null && open !== "edit" && (
        <ActionDialog action={open} view={view} onClose={() => setOpen(null)} onPassword={onPassword} />
      )}
    </>
  );
}

function ActionDialog({
  action,
  view,
  onClose,
  onPassword,
}: MemberActionsProps & { action: ConfirmedAction; onClose(): void }) {
  const { t } = useTranslation("settings");
  const run = useMemberActions(view, onPassword);
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t(`member.${action}.title`, { name: view.name })}
      consequences={t(`member.${action}.what`)}
      confirmLabel={t(`member.${action}`)}
      {...(action === "remove" && { name: view.name })}
      onConfirm={async () => {
        await run[action]();
        showToast(t(`member.${action}.done`));
      }}
    />
  );
}

function useMemberActions(
  { id }: Member,
  onPassword: (password: string) => void,
): Record<ConfirmedAction, () => Promise<unknown>> {
  const update = useOperationMutation("members.update", ["members"]);
  const reset = useOperationMutation("members.resetPassword", ["members"]);
  const signOut = useOperationMutation("members.signOut", ["members"]);
  const remove = useOperationMutation("members.remove", ["members"]);
  return {
    disable: () => update.mutateAsync({ id, isDisabled: true }),
    totpOff: () => update.mutateAsync({ id, isTotpOn: false }),
    reset: async () => onPassword((await reset.mutateAsync({ id })).password),
    signOut: () => signOut.mutateAsync({ id }),
    remove: () => remove.mutateAsync({ id }),
  };
}
