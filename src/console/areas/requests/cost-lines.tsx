import { useTranslation } from "react-i18next";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../../domain/usage.ts";
import type { Output } from "../../api/call.ts";
import { formatCount } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";

type Detail = Output<"requests.get">;
type Line = NonNullable<Detail["cost"]>["lines"][number];

/** Shows the charge of a request line by line, with notes and price rows. */
export function CostLines({ detail: { cost, ledger, request } }: { detail: Detail }) {
  const { t } = useTranslation("requests");
  const charge = ledger.find(({ kind }) => kind === "charge");
  if (!cost || !charge) return <p className="text-muted">{t("cost.none")}</p>;
  return (
    <div className="flex flex-col gap-3">
      <CostTable cost={cost} charge={charge} />
      <CostNotes charge={charge} flags={request.flags} />
      <PriceRows lines={cost.lines} />
    </div>
  );
}

/** Shows the lines of a charge, and a note if their sum is not the amount in the ledger. */
export function CostTable({
  cost,
  charge,
}: {
  cost: NonNullable<Detail["cost"]>;
  charge: Pick<Detail["ledger"][number], "amount" | "currency">;
}) {
  const { t } = useTranslation("requests");
  return (
    <>
      <div role="group" aria-label={t("cost.title")} tabIndex={0} className="@container overflow-x-auto">
        <table className="w-full text-right">
          <thead className="text-xs text-muted">
            <tr className="border-b border-line">
              {(["line", "quantity", "unitPrice", "amount"] as const).map((name) => (
                <th
                  key={name}
                  scope="col"
                  className={`px-3 py-1.5 font-medium first:pl-0 first:text-left last:pr-0 ${name === "unitPrice" ? "@max-md:hidden" : ""}`}
                >
                  {t(`cost.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {cost.lines.map((line, index) => (
              <CostLine key={index} line={line} currency={cost.currency} />
            ))}
          </tbody>
          <tfoot>
            <tr className="font-semibold">
              <th scope="row" colSpan={2} className="py-2 text-left">
                {t("cost.total")}
              </th>
              <td className="@max-md:hidden" />
              <td className="py-2">
                <Money amount={charge.amount} currency={charge.currency} />
              </td>
            </tr>
          </tfoot>
        </table>
      </div>
      {!cost.isExact && <Status level="warn">{t("cost.inexact")}</Status>}
    </>
  );
}

function CostLine({ line, currency }: { line: Line; currency: string }) {
  const { t } = useTranslation("requests");
  const { quantity, unitPrice, per, what, amount } = line;
  const name = useLineName()(line);
  const unit = per === 1 ? t(what === "image" ? "cost.perImage" : "cost.perUse") : t("cost.perMillion");
  const price = (
    <>
      <Money amount={unitPrice} currency={currency} /> <span className="text-muted">{unit}</span>
    </>
  );
  return (
    <tr className="border-b border-line">
      <th scope="row" className="py-1.5 pr-3 text-left font-normal">
        {name}
        {/* A narrow card has no space for a column of unit prices. */}
        <span className="block text-xs @md:hidden">{price}</span>
      </th>
      <td className="px-3 py-1.5">{formatCount(quantity)}</td>
      <td className="px-3 py-1.5 whitespace-nowrap @max-md:hidden">{price}</td>
      <td className="py-1.5 pl-3">
        <Money amount={amount} currency={currency} />
      </td>
    </tr>
  );
}

function CostNotes({ charge, flags }: { charge: Detail["ledger"][number]; flags: readonly string[] }) {
  const { t } = useTranslation("requests");
  const { vendorCost, orphanCost, currency } = charge;
  return (
    <div className="flex flex-col gap-1 text-muted">
      {flags.includes("estimated") && <p>{t("cost.estimated")}</p>}
      {flags.includes("partial") && <p>{t("cost.partial")}</p>}
      {vendorCost && (
        <p>
          {t("cost.vendor")}: <Money {...vendorCost} />
        </p>
      )}
      {Number(orphanCost) > 0 && (
        <p>
          {t("cost.orphan")}: <Money amount={orphanCost} currency={currency} />
        </p>
      )}
    </div>
  );
}

/** Lists the price rows that the lines use, each row once. */
function PriceRows({ lines }: { lines: readonly Line[] }) {
  const { t } = useTranslation("requests");
  const rows = new Map(lines.map((line) => [`${line.source} ${line.effectiveFrom}`, line]));
  return (
    <p className="text-muted">
      {t("detail.price")}:{" "}
      {[...rows.values()].map(({ source, effectiveFrom }, index) => (
        <span key={index}>
          {index > 0 && ", "}
          {t(`price.${source}`)}
          {effectiveFrom !== null && (
            <>
              {" "}
              {t("price.since")} <Time at={effectiveFrom} isAbsolute />
            </>
          )}
        </span>
      ))}
    </p>
  );
}

/** Returns a function that names a line: a token category, pictures of a size and quality, or a feature. */
function useLineName(): (line: { what: string; detail: string | null }) => string {
  const { t } = useTranslation(["requests", "money"]);
  return ({ what, detail }) => {
    const category = TOKEN_CATEGORIES.find((each) => TOKEN_CATEGORY_NAMES[each] === what);
    if (category) {
      const name = t(`money:token.${category}`);
      return detail === "long_context" ? `${name}, ${t("token.long")}` : name;
    }
    const name = what === "image" ? t("image.line") : what;
    return detail === null ? name : `${name}, ${detail.replace(":", " ")}`;
  };
}
