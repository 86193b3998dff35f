import { useTranslation } from "react-i18next";
import { Money } from "../../ui/text/money.tsx";
import { useBill } from "./bill.ts";

/** What a request was charged, once the ledger has it. */
export function Billed({ requestId }: { requestId: string | null }) {
  const { t } = useTranslation("playground");
  const bill = useBill(requestId);
  return (
    <span data-bill>
      {t("billed")}{" "}
      {bill.data ? (
        <strong className="font-semibold text-text">
          <Money {...bill.data} />
        </strong>
      ) : (
        t(bill.isError ? "billed.unknown" : "billed.waiting")
      )}
    </span>
  );
}
