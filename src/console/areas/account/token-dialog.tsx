import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { isAtLeast, ROLES, type Role } from "../../../admin/roles.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { AllOrSomeField } from "../../ui/forms/all-or-some-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { TimeField } from "../../ui/forms/time-field.tsx";

const DEFAULT_DAYS = 90;
const DAY_MS = 86_400_000;

interface TokenValues {
  name: string;
  role: Role;
  organizations: "*" | string[];
  expiresAt: string;
}

/** Creates a token. It can have at most the rights of its member. */
export function TokenDialog({
  isOpen,
  onClose,
  onCreated,
}: {
  isOpen: boolean;
  onClose(): void;
  onCreated(secret: string): void;
}) {
  const { t } = useTranslation("account");
  const { t: words } = useTranslation();
  const { role: own, organizations } = useSession();
  const options = useOrganizationOptions();
  const create = useOperationMutation("tokens.create", ["tokens"]);
  const form = useForm<TokenValues>({
    defaultValues: {
      name: "",
      role: "viewer",
      organizations,
      expiresAt: new Date(Date.now() + DEFAULT_DAYS * DAY_MS).toISOString(),
    },
  });
  const roles = ROLES.filter((role) => isAtLeast(own, role));
  return (
    <FormDialog
      title={t("tokens.create")}
      isOpen={isOpen}
      form={form}
      onClose={onClose}
      onSubmit={async (values) => onCreated((await create.mutateAsync(values)).secret)}
      submitLabel={words("create")}
    >
      <TextField name="name" label={t("tokens.name")} help={t("tokens.name.help")} isRequired autoFocus />
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField
          name="role"
          label={t("role")}
          options={roles.map((id) => ({ id, label: words(`role.${id}`) }))}
          isRequired
        />
        <TimeField name="expiresAt" label={t("tokens.expiresAt")} isRequired />
      </div>
      {organizations === "*" && (
        <AllOrSomeField
          name="organizations"
          label={t("organizations")}
          allLabel={words("organization.all")}
          options={options}
        />
      )}
    </FormDialog>
  );
}
