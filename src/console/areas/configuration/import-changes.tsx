import { useTranslation } from "react-i18next";
import { Status } from "../../ui/text/status.tsx";
import type { Output } from "../../api/call.ts";
import { DifferenceTable } from "../../ui/table/difference-table.tsx";

const LEVELS = { create: "good", update: "warn", remove: "bad" } as const;

/** What an import changes, or has changed, one thing after another; and the secrets that it made. */
export function ImportChanges({ result }: { result: Output<"configuration.import"> }) {
  const { t } = useTranslation("settings");
  const { changes, secrets } = result;
  return (
    <>
      {secrets.length > 0 && (
        <section className="flex flex-col gap-2 rounded-md bg-warn-soft p-3">
          <p className="text-warn">{t("import.secrets")}</p>
          <ul className="flex flex-col gap-1">
            {secrets.map(({ kind, id, secret }) => (
              <li key={`${kind} ${id}`} className="break-all">
                {id} <code className="font-mono text-xs">{secret}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      {changes.length === 0 && <p className="text-muted">{t("import.same")}</p>}
      <ul className="flex flex-col gap-4">
        {changes.map(({ kind, id, action, before, after }) => (
          <li key={`${kind} ${id}`} className="rounded-lg border border-line p-3">
            <p className="mb-2 flex flex-wrap items-center gap-2">
              <Status level={LEVELS[action]}>{t(`import.${action}`)}</Status>
              <span className="text-muted">{kind}</span>
              <span className="min-w-0 font-medium break-words">{id}</span>
            </p>
            <DifferenceTable before={before} after={after} />
          </li>
        ))}
      </ul>
    </>
  );
}
