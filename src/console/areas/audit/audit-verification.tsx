import { useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { Details } from "../../ui/text/details.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Id } from "../../ui/text/id.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Status } from "../../ui/text/status.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { operationQuery } from "../../api/queries.ts";

/** Checks the chain of hashes over all changes. */
export function AuditVerification() {
  const { t } = useTranslation("settings");
  const [isOpen, setOpen] = useState(false);
  const report = useQuery({ ...operationQuery("audit.verify", {}), enabled: isOpen, staleTime: 0 });
  return (
    <>
      <Button icon={ShieldCheck} onPress={() => setOpen(true)}>
        {t("audit.verify")}
      </Button>
      <Dialog title={t("audit.verify")} isOpen={isOpen} onClose={() => setOpen(false)}>
        <div className="pb-4">
          <QueryState query={report}>
            {({ rows, head, faultCount, faults }) => (
              <div className="flex flex-col gap-3">
                {faultCount === 0 ? (
                  <Status level="good">
                    {t("audit.verify.good", { count: rows, number: formatCount(rows) })}
                  </Status>
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
          </QueryState>
        </div>
      </Dialog>
    </>
  );
}
