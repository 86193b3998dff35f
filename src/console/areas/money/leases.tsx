import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { sum } from "../../ui/text/amount.ts";
import { Time } from "../../ui/text/time.tsx";

type Lease = Output<"leases.list">["data"][number];

/**
 * Shows the money that is still held by processes that have disappeared; nothing without such money, or without the
 * right to see it.
 */
export function LeasesInDoubt() {
  const can = useCan();
  return can("viewer", "installation") ? <Leases /> : null;
}

function Leases() {
  const { t } = useTranslation("money");
  const leases = useOperationQuery("leases.list", {});
  const byProcess = Map.groupBy(leases.data?.data ?? [], ({ processId }) => processId);
  if (byProcess.size === 0) return null;
  return (
    <Card title={t("leases.title")} about={t("leases.what")}>
      <ul className="divide-y divide-line">
        {[...byProcess].map(([process, held]) => (
          <ProcessLeases key={process} process={process} held={held} />
        ))}
      </ul>
    </Card>
  );
}

function ProcessLeases({ process, held }: { process: string; held: readonly Lease[] }) {
  const { t } = useTranslation("money");
  const can = useCan();
  const [isAsking, setAsking] = useState(false);
  const writeOff = useOperationMutation("leases.writeOff", ["leases", "budgets", "overview"]);
  const amount = sum(held.map((lease) => lease.amount));
  const since = held.map((lease) => lease.since).toSorted()[0] ?? "";
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 py-3">
      <code className="font-mono text-xs">{process}</code>
      <span>{amount}</span>
      <span className="text-muted">
        {t("leases.since")} <Time at={since} />
      </span>
      {can("billing", "installation") && (
        <span className="ml-auto">
          <Button onPress={() => setAsking(true)}>{t("leases.writeOff")}</Button>
        </span>
      )}
      <ConfirmDialog
        title={t("leases.writeOff.title")}
        consequences={t("leases.writeOff.what", { amount })}
        confirmLabel={t("leases.writeOff")}
        name={process}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          await writeOff.mutateAsync({ processId: process });
          showToast(t("leases.writtenOff"));
        }}
      />
    </li>
  );
}
