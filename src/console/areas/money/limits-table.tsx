import { Pencil } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOrganization } from "../../api/organization.ts";
import { MAX_PAGE, useOperationMutation, useList, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { IconButton } from "../../ui/forms/button.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { LIMITS, LimitsField, toLimits } from "../../ui/forms/limits-field.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { showToast } from "../../ui/overlay/toast.ts";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { TextLink } from "../../ui/text/link.tsx";
import type { LimitsView, LimitsOwner } from "./views.ts";

type LimitName = keyof LimitsView;

/** Lists the limits of organizations and keys, and the defaults that they replace. */
export function LimitsTable() {
  const { t } = useTranslation("money");
  const [edited, setEdited] = useState<LimitsOwner | null>(null);
  const { rows, list } = useOwners();
  return (
    <>
      <DataTable
        id="limits"
        label={t("limits.title")}
        columns={useColumns(setEdited)}
        list={{ ...list, rows }}
        filters={
          <div className="px-1 py-1">
            <h2 className="font-semibold">{t("limits.title")}</h2>
            <p className="mt-0.5 text-muted">
              {t("limits.intro")} {t("limits.ownOnly")}
            </p>
          </div>
        }
        rowId={({ kind, id }) => `${kind} ${id}`}
        empty={<EmptyState>{t("limits.intro")}</EmptyState>}
      />
      {edited && <LimitsDialog owner={edited} onClose={() => setEdited(null)} />}
    </>
  );
}

function useOwners() {
  const { t } = useTranslation("money");
  const { id } = useOrganization();
  const filter = id === null ? {} : { organizationId: id };
  const defaults = useOperationQuery("limits.defaults", {});
  const listed = useList("organizations.list", { limit: 200 });
  const keys = useList("keys.list", { ...filter, limit: MAX_PAGE });
  const lists = [listed, keys];
  const list = {
    error: defaults.error ?? listed.error ?? keys.error,
    failedAt: Math.max(defaults.errorUpdatedAt, listed.failedAt, keys.failedAt),
    hasMore: lists.some(({ hasMore }) => hasMore),
    isReadingMore: lists.some(({ isReadingMore }) => isReadingMore),
    readMore: () => lists.filter(({ hasMore }) => hasMore).forEach(({ readMore }) => readMore()),
    retry: () => {
      void defaults.refetch();
      for (const { retry } of lists) retry();
    },
  };
  if (!defaults.data || !listed.rows || !keys.rows) return { rows: undefined, list };
  const { organization, key } = defaults.data;
  const organizations = listed.rows.filter((each) => id === null || each.id === id);
  const ownKeys = keys.rows.filter(({ limits }) => Object.keys(limits).length > 0);
  const standard = { id: null, version: 0, limits: {} };
  const rows: LimitsOwner[] = [
    { ...standard, kind: "organization", name: t("limits.default.organization"), defaults: organization },
    ...organizations.map((each) => ownerOf("organization", each, organization)),
    { ...standard, kind: "key", name: t("limits.default.key"), defaults: key },
    ...ownKeys.map((each) => ownerOf("key", each, key)),
  ];
  return { rows, list };
}

function ownerOf(
  kind: LimitsOwner["kind"],
  { id, name, version, limits }: { id: string; name: string; version: number; limits: LimitsView },
  defaults: LimitsView,
): LimitsOwner {
  return { kind, id, name, version, limits, defaults };
}

function useColumns(edit: (owner: LimitsOwner) => void): TableColumn<LimitsOwner>[] {
  const { t } = useTranslation(["money", "shell"]);
  const can = useCan();
  return [
    { id: "of", header: t("limits.of"), cell: (owner) => <OwnerName owner={owner} /> },
    ...LIMITS.map((name) => ({
      id: name,
      header: t(`shell:limit.${name}`),
      phone: "named" as const,
      isNumber: true,
      cell: (owner: LimitsOwner) => <LimitCell owner={owner} name={name} />,
    })),
    {
      id: "edit",
      header: t("shell:rowActions"),
      isAction: true,
      cell: (owner) =>
        owner.id !== null &&
        can("admin", owner.kind === "key" ? "organization" : "installation") && (
          <IconButton
            icon={Pencil}
            label={`${t("limits.edit")}: ${owner.name}`}
            onPress={() => edit(owner)}
          />
        ),
    },
  ];
}

function OwnerName({ owner: { kind, id, name } }: { owner: LimitsOwner }) {
  if (id === null) return <span className="text-muted">{name}</span>;
  if (kind === "organization") return <span className="font-medium">{name}</span>;
  return (
    <TextLink to="/keys/$id" params={{ id }}>
      {name}
    </TextLink>
  );
}

function LimitCell({ owner: { id, limits, defaults }, name }: { owner: LimitsOwner; name: LimitName }) {
  const { t } = useTranslation("money");
  const own = limits[name];
  const value = own === undefined ? defaults[name] : own;
  const text = value === null || value === undefined ? t("limits.unlimited") : formatCount(value);
  return id !== null && own !== undefined ? (
    <span className="font-medium" title={t("limits.own")}>
      {text}
    </span>
  ) : (
    <span className="text-muted">{text}</span>
  );
}

function LimitsDialog({ owner, onClose }: { owner: LimitsOwner; onClose(): void }) {
  const { t } = useTranslation("money");
  const { kind, name, version, limits, defaults } = owner;
  const form = useViewForm({ limits });
  const updateOrganization = useOperationMutation("organizations.update", ["organizations"]);
  const updateKey = useOperationMutation("keys.update", ["keys"]);
  return (
    <FormDialog
      title={t("limits.edit.title", { name })}
      form={form}
      subject={{ kind, id: owner.id ?? "", version }}
      isOpen
      onClose={onClose}
      onSubmit={async (values) => {
        const change = { id: owner.id ?? "", version, limits: toLimits(values.limits) };
        await (kind === "key" ? updateKey.mutateAsync(change) : updateOrganization.mutateAsync(change));
        showToast(t("limits.saved"));
      }}
    >
      <LimitsField name="limits" defaults={defaults} />
    </FormDialog>
  );
}
