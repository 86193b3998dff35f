import { useTranslation } from "react-i18next";
import { Money } from "../../components/money.tsx";
import { ReadingState } from "../../components/reading-state.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import type { Output } from "../../lib/api.ts";
import { formatCount } from "../../lib/format.ts";
import { useReading } from "../../lib/queries.ts";
import { UsageText } from "./ledger-columns.tsx";
import type { Entry } from "./views.ts";

type Line = NonNullable<Output<"requests.get">["cost"]>["lines"][number];

/** What a charge consists of, line by line, with the price of each. */
export function CostLines({ id, usage }: { id: string; usage: Entry["usage"] }) {
  const { t } = useTranslation("money");
  const request = useReading("requests.get", { id });
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">{t("entry.usage")}</h3>
      <ReadingState query={request} skeleton={<Skeleton className="h-24 w-full" />}>
        {({ cost }) =>
          cost === null ? (
            <p>
              <UsageText usage={usage} />
            </p>
          ) : (
            <>
              {!cost.isExact && <p className="text-warn">{t("entry.inexact")}</p>}
              <LineTable lines={cost.lines} currency={cost.currency} sum={cost.sum} />
            </>
          )
        }
      </ReadingState>
    </section>
  );
}

function LineTable({ lines, currency, sum }: { lines: readonly Line[]; currency: string; sum: string }) {
  const { t } = useTranslation("money");
  const head = "border-b border-line py-1.5 text-xs font-medium text-muted";
  return (
    <div className="overflow-x-auto">
      <table className="w-full">
        <thead>
          <tr>
            <th scope="col" className={`${head} text-left`}>
              {t("entry.line")}
            </th>
            <th scope="col" className={`${head} pl-4 text-right`}>
              {t("entry.count")}
            </th>
            <th scope="col" className={`${head} pl-4 text-right`}>
              {t("entry.price")}
            </th>
            <th scope="col" className={`${head} pl-4 text-right`}>
              {t("entry.cost")}
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={`${line.what} ${line.detail}`} className="align-top">
              <td className="border-b border-line py-1.5">
                <LineName line={line} />
              </td>
              <td className="border-b border-line py-1.5 pl-4 text-right">{formatCount(line.quantity)}</td>
              <td className="border-b border-line py-1.5 pl-4 text-right">
                <Money amount={line.unitPrice} currency={currency} />
                {line.per > 1 && <span className="text-muted"> / {formatCount(line.per)}</span>}
              </td>
              <td className="border-b border-line py-1.5 pl-4 text-right">
                <Money amount={line.amount} currency={currency} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={3} className="py-1.5 text-left font-medium">
              {t("entry.sum")}
            </th>
            <td className="py-1.5 text-right font-medium">
              <Money amount={sum} currency={currency} />
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

const CATEGORIES = [
  "input",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "output",
  "reasoning",
  "imageInput",
  "imageOutput",
] as const;

function LineName({ line: { what, detail } }: { line: Line }) {
  const { t } = useTranslation("money");
  const category = CATEGORIES.find((each) => each === what);
  const name = category ? t(`token.${category}`) : what === "image" ? t("entry.image") : what;
  const more = detail === "long_context" ? t("entry.long") : detail;
  return (
    <>
      {name}
      {more !== null && <span className="text-muted"> · {more}</span>}
    </>
  );
}
