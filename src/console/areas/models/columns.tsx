import { useTranslation } from "react-i18next";
import type { TableColumn } from "../../ui/table/data-table.tsx";
import { formatMoney } from "../../ui/text/format.ts";
import { TextLink } from "../../ui/text/link.tsx";
import { ModelStatus, stateOf, type ModelRow, type ModelSelection } from "./model-state.tsx";

/** Returns the columns of the list. `enabled` is the models that the current organization may call. */
export function useModelColumns(enabled: ModelSelection | null): readonly TableColumn<ModelRow>[] {
  const { t } = useTranslation("models");
  return [
    {
      id: "id",
      header: t("column.id"),
      cell: ({ id, displayName }) => (
        <span className="flex min-w-40 flex-col">
          <TextLink to="/models/detail" search={{ model: id }}>
            <span className="break-all">{id}</span>
          </TextLink>
          {displayName !== id && <span className="text-xs text-muted">{displayName}</span>}
        </span>
      ),
    },
    {
      id: "state",
      phone: "first",
      header: t("column.state"),
      cell: (model) => <ModelStatus state={stateOf(model, enabled)} />,
    },
    { id: "type", phone: "second", header: t("column.type"), cell: ({ type }) => t(`type.${type}`) },
    {
      id: "prices",
      phone: "second",
      header: t("column.prices"),
      cell: ({ price }) => <Price price={price} />,
    },
    { id: "targets", header: t("column.targets"), cell: ({ route }) => <Targets targets={route.targets} /> },
    {
      id: "origin",
      header: t("column.origin"),
      cell: ({ origin }) => <span className="whitespace-nowrap">{t(`origin.${origin}`)}</span>,
    },
    { id: "owner", header: t("detail.owner"), isOptional: true, cell: ({ ownedBy }) => ownedBy },
  ];
}

function Price({ price }: Pick<ModelRow, "price">) {
  return (
    <span className="whitespace-nowrap">
      <ShortPrice price={price} />
    </span>
  );
}

function Targets({ targets }: { targets: ModelRow["route"]["targets"] }) {
  const { t } = useTranslation("models");
  const [first] = targets;
  if (!first) return <span className="text-muted">–</span>;
  return (
    <>
      {first.channel}
      {targets.length > 1 && (
        <span className="text-muted"> {t("targets.more", { count: targets.length - 1 })}</span>
      )}
    </>
  );
}

/**
 * Shows a model's price in short: the amounts of input and output tokens, or the lowest amount of a picture. Output is
 * left out when it is free or has no amount.
 */
function ShortPrice({ price }: { price: ModelRow["price"] }) {
  const { t } = useTranslation("models");
  if (!price) return <span className="text-muted">{t("price.none")}</span>;
  const { currency, perMillion, perImage } = price;
  if (perMillion) {
    const shown = (amount: string | undefined) =>
      amount === undefined ? "–" : formatMoney(amount, currency);
    const input = shown(perMillion["input"]);
    const output = perMillion["output"];
    return output === undefined || Number(output) === 0
      ? t("price.perMillionIn", { input })
      : t("price.perMillion", { input, output: shown(output) });
  }
  const least = leastOf(Object.values(perImage ?? {}).flatMap((amounts) => Object.values(amounts)));
  return least === null ? t("price.none") : t("price.perImage", { amount: formatMoney(least, currency) });
}

function leastOf(amounts: readonly string[]): string | null {
  return amounts.reduce<string | null>(
    (least, amount) => (least === null || Number(amount) < Number(least) ? amount : least),
    null,
  );
}
