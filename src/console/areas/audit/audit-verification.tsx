import { useTranslation } from "react-i18next";
import { VerificationDialog } from "../../ui/overlay/verification-dialog.tsx";
import { Details } from "../../ui/text/details.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { Status } from "../../ui/text/status.tsx";

/** Checks the chain of hashes over all changes. */
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
            {faults.map(({ revision, fault }) => (
              <li key={`${revision} ${fault}`}>
                {revision} {fault}
              </li>
            ))}
          </ul>
        </div>
      )}
    </VerificationDialog>
  );
}
