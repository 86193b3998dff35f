import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { VerificationDialog } from "../../ui/overlay/verification-dialog.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";

type Report = Output<"ledger.verify">;

/** Compares the ledger with budgets, leases and journals. Shows the differences. */
export function Verification() {
  const { t } = useTranslation("money");
  return (
    <VerificationDialog
      operation="ledger.verify"
      input={{}}
      label={t("ledger.verify")}
      title={t("ledger.verify.title")}
      skeleton={<p className="text-muted">{t("ledger.verify.running")}</p>}
    >
      {(report) => <ReportView report={report} />}
    </VerificationDialog>
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
