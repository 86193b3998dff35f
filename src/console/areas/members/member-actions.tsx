import { Ban, KeyRound, LogOut, Pencil, ShieldOff, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionMenu, type Action } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { useActing } from "../../api/queries.ts";
import { useCan, useSession } from "../../api/session.ts";
import { MemberDialog } from "./member-dialog.tsx";
import type { Member } from "./member-dialog.tsx";

const ACTS = ["disable", "reset", "signOut", "totpOff", "remove"] as const;
type Act = (typeof ACTS)[number];

interface MemberActsProps {
  view: Member;
  onPassword(password: string): void;
}

/** What an owner may do with a member. */
export function MemberActs({ view, onPassword }: MemberActsProps) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const session = useSession();
  const [act, setAct] = useState<Act | "edit" | null>(null);
  const update = useActing("members.update", ["members"]);
  if (!can("owner")) return null;
  const isOther = view.id !== session.id;
  const enable = () =>
    update.mutate(
      { id: view.id, isDisabled: false },
      { onSuccess: () => showToast(t("member.enabled.done")), onError: showProblem },
    );
  const dangerous = (name: Act, icon: Action["icon"]): Action => ({
    label: t(`member.${name}`),
    ...(icon && { icon }),
    isDangerous: true,
    onAction: () => setAct(name),
  });
  const actions: Action[] = [
    { label: t("member.edit"), icon: Pencil, onAction: () => setAct("edit") },
    ...(isOther ? [{ label: t("member.reset"), icon: KeyRound, onAction: () => setAct("reset") }] : []),
    { label: t("member.signOut"), icon: LogOut, onAction: () => setAct("signOut") },
    ...(view.isTotpOn ? [dangerous("totpOff", ShieldOff)] : []),
    ...(view.isDisabled ? [{ label: t("member.enable"), icon: Undo2, onAction: enable }] : []),
    ...(!view.isDisabled && isOther ? [dangerous("disable", Ban)] : []),
    ...(isOther ? [dangerous("remove", Trash2)] : []),
  ];
  return (
    <>
      <ActionMenu label={t("acts", { name: view.name })} actions={actions} />
      <MemberDialog
        view={view}
        isOpen={act === "edit"}
        onClose={() => setAct(null)}
        onPassword={onPassword}
      />
      {act !== null && act !== "edit" && (
        <ActDialog act={act} view={view} onClose={() => setAct(null)} onPassword={onPassword} />
      )}
    </>
  );
}

function ActDialog({ act, view, onClose, onPassword }: MemberActsProps & { act: Act; onClose(): void }) {
  const { t } = useTranslation("settings");
  const run = useActs(view, onPassword);
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t(`member.${act}.title`, { name: view.name })}
      consequences={t(`member.${act}.what`)}
      confirmLabel={t(`member.${act}`)}
      {...(act === "remove" && { name: view.name })}
      onConfirm={async () => {
        await run[act]();
        showToast(t(`member.${act}.done`));
      }}
    />
  );
}

function useActs(
  { id }: Member,
  onPassword: (password: string) => void,
): Record<Act, () => Promise<unknown>> {
  const update = useActing("members.update", ["members"]);
  const reset = useActing("members.resetPassword", ["members"]);
  const signOut = useActing("members.signOut", ["members"]);
  const remove = useActing("members.remove", ["members"]);
  return {
    disable: () => update.mutateAsync({ id, isDisabled: true }),
    totpOff: () => update.mutateAsync({ id, isTotpOn: false }),
    reset: async () => onPassword((await reset.mutateAsync({ id })).password),
    signOut: () => signOut.mutateAsync({ id }),
    remove: () => remove.mutateAsync({ id }),
  };
}
