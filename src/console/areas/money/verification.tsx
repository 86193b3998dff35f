import { useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { Output } from "../../api/call.ts";
import { formatCount } from "../../ui/text/format.ts";
import { operationQuery } from "../../api/queries.ts";

type Report = Output<"ledger.verify">;

/** Compares the ledger with budgets, leases and journals, and shows the differences. */
export function Verification() {
  const { t } = useTranslation("money");
  const [isOpen, setOpen] = useState(false);
  const report = useQuery({ ...operationQuery("ledger.verify", {}), enabled: isOpen, staleTime: 0 });
  return (
    <>
      <Button icon={ShieldCheck} onPress={() => setOpen(true)}>
        {t("ledger.verify")}
      </Button>
      <Dialog title={t("ledger.verify.title")} isOpen={isOpen} onClose={() => setOpen(false)}>
        <div className="pb-4">
          <QueryState query={report} skeleton={<p className="text-muted">{t("ledger.verify.running")}</p>}>
            {(data) => <ReportView report={data} />}
          </QueryState>
        </div>
      </Dialog>
    </>
  );
}

function ReportView({ report }: { report: Report }) {
  const { t } = useTranslation("money");
  const { entries, budgets, waiting, differenceCount, differences, at } = report;
  return (
    <div className="flex flex-col gap-3">
      {differenceCount === 0 ? (
        <Status level="good">
          {t("ledger.verify.good", { entries: formatCount(entries), budgets: formatCount(budgets) })}
        </Status>
      ) : (
        <Status level="bad">{t("ledger.verify.bad", { count: differenceCount })}</Status>
      )}
      {waiting > 0 && <p className="text-muted">{t("ledger.verify.waiting", { count: waiting })}</p>}
      <p className="text-muted">
        <Time at={at} isAbsolute />
      </p>
      <ul className="divide-y divide-line">
        {differences.map(({ check, subject, expected, found }) => (
          <li key={`${check} ${subject}`} className="flex flex-col gap-0.5 py-2">
            <span className="font-medium">{t(`check.${check}`)}</span>
            <code className="font-mono text-xs break-all text-muted">{subject}</code>
            <span>
              {t("difference.expected")} {expected ?? "–"} · {t("difference.found")} {found ?? "–"}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
