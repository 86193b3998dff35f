import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { Button } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";

export function SessionsCard() {
  const { t } = useTranslation("account");
  const [isAsking, setAsking] = useState(false);
  const sessions = useOperationQuery("sessions.list", {});
  const removeAll = useOperationMutation("sessions.removeAll", []);
  const end = async () => {
    await removeAll.mutateAsync({});
    location.reload();
  };
  return (
    <Card
      title={t("sessions")}
      actions={<Button onPress={() => setAsking(true)}>{t("sessions.endAll")}</Button>}
    >
      <QueryState query={sessions}>
        {({ data }) => (
          <ul className="divide-y divide-line">
            {data.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        )}
      </QueryState>
      <ConfirmDialog
        title={t("sessions.endAll")}
        consequences={sessions.data && t("sessions.endAll.text", { count: sessions.data.data.length })}
        confirmLabel={t("sessions.endAll")}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={end}
      />
    </Card>
  );
}

function SessionRow({ session }: { session: Output<"sessions.list">["data"][number] }) {
  const { t } = useTranslation("account");
  const remove = useOperationMutation("sessions.remove", ["sessions"]);
  const { id, isThis, address, agent, seenAt } = session;
  return (
    <li className="flex items-center gap-3 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium" title={agent}>
          {browserOf(agent) ?? t("sessions.program")}
        </p>
        <p className="truncate text-xs text-muted">
          {address} · <Time at={seenAt} />
        </p>
      </div>
      {isThis ? (
        <Status level="good">{t("sessions.this")}</Status>
      ) : (
        <Button
          kind="quiet"
          isPending={remove.isPending}
          onPress={() => void remove.mutateAsync({ id }).catch(showProblem)}
        >
          {t("sessions.end")}
        </Button>
      )}
    </li>
  );
}

const BROWSERS = ["Edg", "OPR", "Firefox", "Chrome", "Safari"];
const SYSTEMS = ["Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux"];
const NAMES: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera", "Mac OS": "macOS" };

/** Returns a name such as "Firefox · Linux"; null when the agent names neither a known browser nor a known system. */
function browserOf(agent: string): string | null {
  const found = [BROWSERS, SYSTEMS].map((list) => list.find((name) => agent.includes(name)));
  const named = found.flatMap((name) => (name === undefined ? [] : [NAMES[name] ?? name]));
  return named.length === 0 ? null : named.join(" · ");
}
