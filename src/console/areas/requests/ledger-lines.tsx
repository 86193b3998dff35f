import { useTranslation } from "react-i18next";
import { Id } from "../../ui/text/id.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { Output } from "../../api/call.ts";

/** The entries of the ledger for one request: its charge, and corrections of it. */
export function LedgerLines({ detail: { ledger, net } }: { detail: Output<"requests.get"> }) {
  const { t } = useTranslation("requests");
  const [charge] = ledger;
  if (!charge) return <p className="text-muted">{t("ledger.none")}</p>;
  return (
    <ul className="flex flex-col divide-y divide-line">
      {ledger.map(({ id, kind, at, amount, currency }) => (
        <li key={`${id} ${kind}`} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
          <span className="w-24 font-medium">{t(`ledger.${kind}`)}</span>
          <span className="min-w-0 flex-1">
            <Id value={id} />
          </span>
          <span className="text-muted">
            <Time at={at} isAbsolute />
          </span>
          <span className="min-w-24 text-right">
            <Money amount={amount} currency={currency} />
          </span>
        </li>
      ))}
      {ledger.length > 1 && net !== null && (
        <li className="flex items-center gap-4 py-2 font-semibold">
          <span className="flex-1">{t("ledger.net")}</span>
          <Money amount={net} currency={charge.currency} />
        </li>
      )}
    </ul>
  );
}
