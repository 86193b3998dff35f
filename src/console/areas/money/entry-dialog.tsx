import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { Details } from "../../ui/text/details.tsx";
import { Id } from "../../ui/text/id.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Time } from "../../ui/text/time.tsx";
import { CostTable } from "../requests/cost-lines.tsx";
import { EntryKind, EntryUsage, useNames } from "./ledger-columns.tsx";
import { RefundDialog } from "./refund-dialog.tsx";
import type { ChargeView } from "./views.ts";

/** Shows a charge with its lines and its corrections. */
export function EntryDialog({ id, onClose }: { id: string; onClose(): void }) {
  const { t } = useTranslation("money");
  const can = useCan();
  const [isRefunding, setRefunding] = useState(false);
  const entry = useOperationQuery("ledger.get", { id });
  const isLeft = entry.data !== undefined && Number(entry.data.net) > 0;
  return (
    <>
      <Dialog
        title={t("entry.title")}
        size="l"
        isOpen
        onClose={onClose}
        footer={
          can("billing", "installation") &&
          isLeft && <Button onPress={() => setRefunding(true)}>{t("refund")}</Button>
        }
      >
        <QueryState query={entry} skeleton={<Skeleton className="h-[28rem] w-full" />}>
          {(view) => <Parts view={view} />}
        </QueryState>
      </Dialog>
      {entry.data && (
        <RefundDialog view={entry.data} isOpen={isRefunding} onClose={() => setRefunding(false)} />
      )}
    </>
  );
}

function Parts({ view }: { view: ChargeView }) {
  const { t } = useTranslation("money");
  return (
    <div className="flex flex-col gap-6 pb-4">
      <div className="grid gap-x-10 sm:grid-cols-2">
        <Origin view={view} />
        <Amounts view={view} />
      </div>
      <Usage charge={view.charge} />
      <section>
        <h3 className="font-semibold">{t("entry.corrections")}</h3>
        {view.corrections.length === 0 ? (
          <p className="text-muted">{t("entry.corrections.none")}</p>
        ) : (
          <ul className="divide-y divide-line">
            {view.corrections.map(({ id, kind, at, amount, currency, flags }) => (
              <li key={id} className="flex flex-wrap items-center gap-3 py-2">
                <EntryKind kind={kind} />
                <Time at={at} isAbsolute />
                <span className="text-muted">
                  {flags.includes("price_correction") && t("flag.price_correction")}
                </span>
                <span className="ml-auto">
                  <Money amount={amount} currency={currency} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

/** Shows the usage and its cost, line by line if the lines are known. */
function Usage({ charge }: Pick<ChargeView, "charge">) {
  const { t } = useTranslation("money");
  const request = useOperationQuery("requests.get", { id: charge.id });
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">{t("entry.usage")}</h3>
      <QueryState query={request} skeleton={<Skeleton className="h-24 w-full" />}>
        {({ cost }) =>
          cost === null ? (
            <p>
              <EntryUsage usage={charge.usage} />
            </p>
          ) : (
            <CostTable cost={cost} charge={charge} />
          )
        }
      </QueryState>
    </section>
  );
}

function Origin({ view: { charge } }: { view: ChargeView }) {
  const { t } = useTranslation("money");
  const nameOf = useNames();
  return (
    <Details
      entries={[
        [t("column.at"), <Time at={charge.at} isAbsolute />],
        [t("column.organization"), nameOf.organization(charge.organizationId)],
        [
          t("column.key"),
          <TextLink to="/keys/$id" params={{ id: charge.keyId }}>
            {nameOf.key(charge.keyId)}
          </TextLink>,
        ],
        [t("column.model"), charge.model],
        [t("entry.source"), charge.source],
        [t("column.channel"), charge.channel],
        [t("entry.id"), <Id value={charge.id} />],
        [
          t("column.request"),
          <TextLink to="/requests/$id" params={{ id: charge.id }}>
            {t("entry.request")}
          </TextLink>,
        ],
      ]}
    />
  );
}

function Amounts({ view: { charge, net, corrections } }: { view: ChargeView }) {
  const { t } = useTranslation("money");
  const { currency, vendorCost, margin, flags } = charge;
  return (
    <Details
      entries={[
        [t("entry.charge"), <Money amount={charge.amount} currency={currency} />],
        [t("entry.net"), corrections.length > 0 ? <Money amount={net} currency={currency} /> : null],
        [t("column.price"), t(`source.${charge.priceSource}`)],
        [
          t("entry.vendorCost"),
          vendorCost && <Money amount={vendorCost.amount} currency={vendorCost.currency} />,
        ],
        [
          t("entry.margin"),
          typeof margin === "string" ? <Money amount={margin} currency={currency} /> : null,
        ],
        [t("entry.flags"), flags.length > 0 ? <FlagTexts flags={flags} /> : null],
      ]}
    />
  );
}

const FLAGS = ["estimated", "anomalous", "partial", "caller_gone", "over_hold", "price_correction"] as const;

function FlagTexts({ flags }: { flags: readonly string[] }) {
  const { t } = useTranslation("money");
  return flags
    .map((flag) => {
      const known = FLAGS.find((each) => each === flag);
      return known ? t(`flag.${known}`) : flag;
    })
    .join(" · ");
}
