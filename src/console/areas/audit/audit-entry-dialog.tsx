import { useTranslation } from "react-i18next";
import { Details } from "../../ui/text/details.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Id } from "../../ui/text/id.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { AuditEntry } from "../organizations/views.ts";
import { useAuditWords } from "./audit-words.ts";
import { DifferenceTable } from "../../ui/table/difference-table.tsx";

/** One change with what it has changed. */
export function AuditEntryDialog({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  const { t } = useTranslation("settings");
  const words = useAuditWords();
  const { at, actor, source, action, kind, subject, before, after } = entry;
  return (
    <Dialog title={`${words.action(action)} · ${words.kind(kind)}`} size="l" isOpen onClose={onClose}>
      <div className="flex flex-col gap-5 pb-4">
        <Details
          entries={[
            [t("audit.at"), <Time key="at" at={at} isAbsolute />],
            [t("audit.actor"), actor],
            [t("audit.source"), source],
            [t("audit.subject"), <Id key="subject" value={subject} />],
          ]}
        />
        <DifferenceTable before={before} after={after} />
      </div>
    </Dialog>
  );
}
