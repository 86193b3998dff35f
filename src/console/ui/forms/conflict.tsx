import { UsersRound } from "lucide-react";
import { useEffect, useState } from "react";
import { useFormContext } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { queryClient, useOperationQuery } from "../../api/queries.ts";
import { ChangeText } from "../table/change-text.tsx";
import { useChangeWords } from "../table/change-words.ts";
import { formatAge } from "../text/format.ts";
import { useNow } from "../text/time.tsx";
import { Button } from "./button.tsx";

/** The stored record that a form changes: its kind and id in the audit log, and the revision that the form shows. */
export interface FormSubject {
  kind: string;
  id: string;
  /** Null when nothing is stored yet. */
  version: number | null;
}

/**
 * Shows who last changed the record since the form was opened, and the changes since then. A button reads the record
 * again and keeps the user's input.
 */
export function Conflict({ subject: { kind, id, version } }: { subject: FormSubject }) {
  const { t } = useTranslation(["shell", "settings"]);
  const { clearErrors } = useFormContext();
  const now = useNow();
  const wordsOf = useChangeWords();
  const query = useOperationQuery("audit.list", { kind, subject: id, limit: MAX_CHANGES });
  const since = (query.data?.data ?? []).filter(({ revision }) => revision > (version ?? 0));
  const [newest] = since;
  const oldest = since.at(-1);
  const changes = newest && oldest ? wordsOf({ ...newest, before: oldest.before }) : [];
  const [known] = useState(version);
  // The conflict is cleared only after the form shows the new values. Otherwise the form would lose the user's input.
  useEffect(() => {
    if (version !== known) clearErrors("root");
  }, [version, known, clearErrors]);
  const reload = () => void queryClient.invalidateQueries({ refetchType: "active" });
  return (
    <div role="alert" className="flex flex-col gap-2 rounded-md bg-warn-soft px-3 py-2">
      <p className="flex items-center gap-2 font-medium text-warn">
        <UsersRound size={16} aria-hidden className="shrink-0" />
        <span>
          {newest
            ? t("conflict.by", { actor: newest.actor, age: formatAge(Date.parse(newest.at), now) })
            : t("conflict")}
        </span>
      </p>
      {changes.length > 0 && (
        <ul className="list-disc pl-5">
          {changes.map((change) => (
            <li key={`${change.field} ${change.value}`} className="break-words">
              <ChangeText change={change} />
            </li>
          ))}
        </ul>
      )}
      <p className="text-muted">{t("conflict.about")}</p>
      <div>
        <Button onPress={reload}>{t("conflict.reload")}</Button>
      </div>
    </div>
  );
}

const MAX_CHANGES = 50;
