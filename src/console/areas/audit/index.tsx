import { History } from "lucide-react";
import { Fragment } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Input, Output } from "../../api/call.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { VerificationDialog } from "../../ui/overlay/verification-dialog.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { operatorText } from "../../texts/operator-text.ts";
import { ChangeText } from "../../ui/table/change-text.tsx";
import { type ChangeWords, useChangeWords } from "../../ui/table/change-words.ts";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { DifferenceTable } from "../../ui/table/difference-table.tsx";
import { ExportMenu } from "../../ui/table/export-menu.tsx";
import { Details } from "../../ui/text/details.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Moment, Time } from "../../ui/text/time.tsx";
import { AUDIT_KINDS, useAuditWords } from "./audit-words.ts";

type AuditEntry = Output<"audit.list">["data"][number];

/** The page of the audit log. The address contains the filters and the open entry. */
export default function AuditPage() {
  const { t } = useTranslation(["settings", "shell"]);
  const { filters, change } = useFilters();
  const can = useCan();
  const words = useAuditWords();
  const filter = useAuditFilter();
  const list = useList("audit.list", filter);
  const isFiltered = Object.keys(filter).length > 0;
  const open = list.rows?.find(({ revision }) => String(revision) === filters["entry"]);
  return (
    <Page
      title={t("shell:nav.settings")}
      about={t("audit.intro")}
      tabs={<AreaTabs area="settings" />}
      actions={can("admin", "installation") && <AuditVerification />}
    >
      <DataTable
        id="audit"
        label={t("audit.title")}
        columns={useColumns()}
        list={list}
        rowId={({ revision }) => String(revision)}
        onOpen={({ revision }) => change({ entry: String(revision) })}
        filters={
          <>
            <FilterInput name="subject" label={t("audit.filter.subject")} />
            <FilterInput name="actor" label={t("audit.filter.actor")} />
            <FilterSelect
              name="kind"
              label={t("audit.kind")}
              options={AUDIT_KINDS.map((id) => ({ id, label: words.kind(id) }))}
            />
          </>
        }
        actions={<ExportMenu of="audit" filter={filter} />}
        empty={
          <EmptyState icon={History}>{t(isFiltered ? "audit.empty.filtered" : "audit.empty")}</EmptyState>
        }
      />
      {open && (
        <AuditEntryDialog entry={open} onClose={() => change({ entry: undefined }, { goesOn: true })} />
      )}
    </Page>
  );
}

/** Converts the filters in the address to the operation's input. */
function useAuditFilter(): Input<"audit.list"> {
  const { filters } = useFilters();
  const { subject, actor, kind } = filters;
  return {
    ...(subject !== undefined && { subject }),
    ...(actor !== undefined && { actor }),
    ...(kind !== undefined && { kind }),
  };
}

function useColumns(): TableColumn<AuditEntry>[] {
  const { t } = useTranslation("settings");
  const words = useAuditWords();
  const changesOf = useChangeWords();
  return [
    {
      id: "at",
      header: t("audit.at"),
      cell: ({ at, revision }) => (
        <TextLink to="." search={(before: object) => ({ ...before, entry: String(revision) })}>
          <Moment at={at} />
        </TextLink>
      ),
    },
    { id: "actor", phone: "first", header: t("audit.actor"), cell: ({ actor }) => actor },
    {
      id: "action",
      phone: "second",
      header: t("audit.action"),
      cell: ({ action, kind }) => (
        <span className="whitespace-nowrap">
          {words.action(action)} <span className="text-muted">{words.kind(kind)}</span>
        </span>
      ),
    },
    {
      id: "subject",
      phone: "second",
      header: t("audit.subject"),
      cell: ({ subject, subjectName }) => (
        <span
          className={`block max-w-64 truncate ${subjectName === null ? "font-mono text-xs" : ""}`}
          title={subject}
        >
          {subjectName ?? subject}
        </span>
      ),
    },
    {
      id: "fields",
      phone: "second",
      header: t("audit.fields"),
      cell: (entry) => <Changes changes={changesOf(entry)} />,
    },
    { id: "source", header: t("audit.source"), cell: ({ source }) => source, isOptional: true },
  ];
}

/** Shows the changed fields on one line, and hovering shows all of them. */
function Changes({ changes }: { changes: readonly ChangeWords[] }) {
  return (
    <span
      className="block max-w-96 truncate text-muted"
      title={changes.map(({ field, value }) => `${field} ${value}`).join("\n")}
    >
      {changes.map((change, index) => (
        <Fragment key={`${change.field} ${change.value}`}>
          {index > 0 && " · "}
          <ChangeText change={change} />
        </Fragment>
      ))}
    </span>
  );
}

/** Shows one entry and the differences that it recorded. */
function AuditEntryDialog({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  const { t } = useTranslation("settings");
  const words = useAuditWords();
  const { at, actor, source, action, kind, subject, subjectName, before, after } = entry;
  return (
    <Dialog title={`${words.action(action)} · ${words.kind(kind)}`} size="l" isOpen onClose={onClose}>
      <div className="flex flex-col gap-5 pb-4">
        <Details
          entries={[
            [t("audit.at"), <Time key="at" at={at} isAbsolute />],
            [t("audit.actor"), actor],
            [t("audit.source"), source],
            [
              t("audit.subject"),
              <span key="subject" className="flex flex-wrap items-center gap-2">
                {subjectName}
                <Id value={subject} />
              </span>,
            ],
          ]}
        />
        <DifferenceTable before={before} after={after} />
      </div>
    </Dialog>
  );
}

/** Verifies the chain of hashes over all entries. */
export function AuditVerification() {
  const { t } = useTranslation("settings");
  return (
    <VerificationDialog operation="audit.verify" input={{}} label={t("audit.verify")}>
      {({ rows, head, faultCount, faults }) => (
        <div className="flex flex-col gap-3">
          {faultCount === 0 ? (
            <Status level="good">{t("audit.verify.good", { count: rows, number: formatCount(rows) })}</Status>
          ) : (
            <Status level="bad">{t("audit.verify.bad", { count: faultCount })}</Status>
          )}
          <Details entries={[[t("audit.verify.head"), head && <Id value={head} />]]} />
          <p className="text-muted">{t("audit.verify.keep")}</p>
          <ul className="list-disc pl-5">
            {faults.map(({ revision, fault, code }) => (
              <li key={`${revision} ${fault}`}>
                {revision} {operatorText({ message: fault, code })}
              </li>
            ))}
          </ul>
        </div>
      )}
    </VerificationDialog>
  );
}
