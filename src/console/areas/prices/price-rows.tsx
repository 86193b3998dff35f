import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/call.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { MAX_PAGE, useOperationMutation, wholeListQuery } from "../../api/queries.ts";
import { useCan, useSession } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status, type StatusLevel } from "../../ui/text/status.tsx";
import { Time, useNow } from "../../ui/text/time.tsx";
import { CATEGORIES, useCellText, type ModelPrices, type PriceRowView } from "./cells.ts";

/** Number of rows that are shown first, and that are added each time. */
const STEP = 100;

/**
 * Lists the rows of a model's price, the latest first. The list contains planned rows, rows in force and ended rows.
 */
export function PriceRows({ model, origin }: { model: string; origin: ModelPrices["origin"] }) {
  const { t } = useTranslation(["prices", "shell"]);
  const { id } = useOrganization();
  const isOfAll = useSession().organizations === "*";
  const own = isOfAll || id === null ? {} : { organizationId: id };
  const rows = useQuery(wholeListQuery("prices.list", { model, limit: MAX_PAGE, ...own }));
  const [most, setMost] = useState(STEP);
  const concerns = ({ organizationId }: PriceRowView) =>
    organizationId === null || id === null || organizationId === id;
  return (
    <Card title={t("detail.rows")} about={t("detail.rows.help")}>
      <QueryState query={rows}>
        {(data) => {
          const shown = data.filter(concerns).toReversed();
          return shown.length === 0 ? (
            <p className="text-muted">{t("detail.rows.empty.none")}</p>
          ) : (
            <>
              <ul className="divide-y divide-line">
                {shown.slice(0, most).map((row) => (
                  <RowItem key={row.id ?? "configuration"} row={row} origin={origin} />
                ))}
              </ul>
              {shown.length > most && (
                <div className="flex justify-center border-t border-line pt-3">
                  <Button kind="quiet" onPress={() => setMost(most + STEP)}>
                    {t("shell:more")}
                  </Button>
                </div>
              )}
            </>
          );
        }}
      </QueryState>
    </Card>
  );
}

function RowItem({ row, origin }: { row: PriceRowView; origin: ModelPrices["origin"] }) {
  const { t } = useTranslation("prices");
  const can = useCan();
  const [isEnding, setEnding] = useState(false);
  const organization = useOrganizationOptions().find(({ id }) => id === row.organizationId);
  const state = stateOf(row, useNow());
  const mayEnd = row.id !== null && state !== "past";
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-2 py-3">
      <div className="flex w-full flex-col gap-1 sm:w-56">
        <Status level={LEVELS[state]}>{t(`row.state.${state}`)}</Status>
        <span className="text-xs text-muted">
          {row.source === "configuration"
            ? t(`source.${origin}`)
            : row.organizationId === null
              ? t("row.owner.all")
              : (organization?.label ?? row.organizationId)}
        </span>
        <Span row={row} />
      </div>
      <RowAmounts row={row} />
      {mayEnd && can("billing", "installation") && (
        <Button kind="quiet" onPress={() => setEnding(true)}>
          {t("row.end")}
        </Button>
      )}
      {isEnding && <EndPriceDialog row={row} onClose={() => setEnding(false)} />}
    </li>
  );
}

type RowState = "now" | "future" | "past";

const LEVELS: Record<RowState, StatusLevel> = { now: "good", future: "busy", past: "off" };

function stateOf({ effectiveFrom, effectiveUntil }: PriceRowView, now: number): RowState {
  if (effectiveUntil !== null && Date.parse(effectiveUntil) <= now) return "past";
  return effectiveFrom !== null && Date.parse(effectiveFrom) > now ? "future" : "now";
}

function Span({ row: { effectiveFrom, effectiveUntil } }: { row: PriceRowView }) {
  const { t } = useTranslation("prices");
  return (
    <span className="text-xs text-muted">
      {effectiveFrom === null ? (
        t("row.always")
      ) : (
        <>
          {t("row.from")} <Time at={effectiveFrom} isAbsolute />
        </>
      )}
      {effectiveUntil !== null && (
        <>
          <br />
          {t("row.until")} <Time at={effectiveUntil} isAbsolute />
        </>
      )}
    </span>
  );
}

/** Lists every amount of a row with the name of its cell. */
function RowAmounts({ row }: { row: PriceRowView }) {
  const textOf = useCellText();
  return (
    <dl className="grid min-w-0 flex-1 grid-cols-[max-content_1fr] gap-x-4 gap-y-0.5">
      {amountsOf(row).map(([cell, amount]) => (
        <div key={cell} className="contents">
          <dt className="text-muted">{textOf(cell)}</dt>
          <dd>
            <Money amount={amount} currency={row.currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const CELL_NAMES = new Map<string, string>(
  Object.entries(CATEGORIES).map(([cell, category]) => [category, cell]),
);

function amountsOf({ perImage, perMillion, longContext, perUse }: PriceRowView): [string, string][] {
  const tokens = (amounts: Record<string, string> = {}, suffix = ""): [string, string][] =>
    Object.entries(amounts).map(([category, amount]) => [
      `${CELL_NAMES.get(category) ?? category}${suffix}`,
      amount,
    ]);
  return [
    ...Object.entries(perImage ?? {}).flatMap(([tier, cells]) =>
      Object.entries(cells).map(([quality, amount]): [string, string] => [`${tier}:${quality}`, amount]),
    ),
    ...tokens(perMillion),
    ...tokens(longContext?.perMillion, ` above ${longContext?.above}`),
    ...Object.entries(perUse ?? {}).map(([feature, amount]): [string, string] => [`${feature} use`, amount]),
  ];
}

/** Ends a row. If models would lose their only price, the gateway refuses; the user can force the end. */
function EndPriceDialog({ row, onClose }: { row: PriceRowView; onClose(): void }) {
  const { t } = useTranslation("prices");
  const [isRefused, setRefused] = useState(false);
  const end = useOperationMutation("prices.end", ["prices", "models", "overview"]);
  return (
    <ConfirmDialog
      title={t("end.title")}
      consequences={t("end.what")}
      confirmLabel={t(isRefused ? "end.force" : "row.end")}
      isOpen
      onClose={onClose}
      onConfirm={async () => {
        try {
          await end.mutateAsync({ id: row.id ?? "", isForced: isRefused });
        } catch (error) {
          if (error instanceof ApiError && error.status === 409) setRefused(true);
          throw error;
        }
        showToast(t("end.done"));
      }}
    />
  );
}
