import { useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { AllOrSomeField } from "../../ui/forms/all-or-some-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { showToast } from "../../ui/overlay/toast.ts";

export type Member = Output<"members.list">["data"][number];

interface MemberValues {
  name: string;
  email: string;
  role: Member["role"];
  organizations: "*" | string[];
  password: string;
}

interface MemberDialogProps {
  /** The member to change; null to add one. */
  view: Member | null;
  isOpen: boolean;
  onClose(): void;
  /** Called with a generated password, which must be shown once. */
  onPassword(password: string): void;
}

const ROLES = ["viewer", "billing", "admin", "owner"] as const;

/** Adds a member, or changes the email address and the rights of a member. */
export function MemberDialog({ view, isOpen, onClose, onPassword }: MemberDialogProps) {
  const { t } = useTranslation(["settings", "shell"]);
  const { organizations } = useSession();
  const form = useViewForm<MemberValues>(valuesOf(view, organizations));
  const role = useWatch({ control: form.control, name: "role" });
  const save = useSaving(view, onPassword);
  return (
    <FormDialog
      title={view ? t("member.edit.title", { name: view.name }) : t("member.create.title")}
      form={form}
      subject={view && { kind: "member", ...view }}
      isOpen={isOpen}
      onClose={onClose}
      onSubmit={save}
    >
      {view === null && (
        <TextField name="name" label={t("member.name")} help={t("member.name.help")} isRequired autoFocus />
      )}
      <TextField name="email" label={t("member.email")} type="email" inputMode="email" />
      <SelectField
        name="role"
        label={t("member.role")}
        help={t(`role.${role}.help`)}
        options={ROLES.map((id) => ({ id, label: t(`shell:role.${id}`) }))}
        isRequired
      />
      <AllOrSomeField
        name="organizations"
        label={t("member.organizations")}
        allLabel={t("member.organizations.all")}
        options={useOrganizationOptions()}
      />
      {view === null && (
        <TextField
          name="password"
          label={t("member.password")}
          help={t("member.password.help")}
          type="password"
          autoComplete="new-password"
        />
      )}
    </FormDialog>
  );
}

function valuesOf(view: Member | null, own: "*" | string[]): MemberValues {
  if (!view) return { name: "", email: "", role: "viewer", organizations: own, password: "" };
  const { name, email, role, organizations } = view;
  return { name, email: email ?? "", role, organizations, password: "" };
}

function useSaving(view: Member | null, onPassword: (password: string) => void) {
  const { t } = useTranslation("settings");
  const create = useOperationMutation("members.create", ["members"]);
  const update = useOperationMutation("members.update", ["members", "session"]);
  return async ({ name, email, role, organizations, password }: MemberValues) => {
    const fields = { email: email === "" ? null : email, role, organizations };
    if (view) {
      await update.mutateAsync({ id: view.id, version: view.version, ...fields });
      showToast(t("member.saved"));
      return;
    }
    const made = await create.mutateAsync({ ...fields, name, ...(password !== "" && { password }) });
    showToast(t("member.created.done"));
    if (made.password !== null) onPassword(made.password);
  };
}
