import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { CellsTable } from "./cells-table.tsx";
import type { ModelPrices } from "./cells.ts";
import { CorrectionDialog } from "./correction-dialog.tsx";
import { PriceDialog } from "./price-dialog.tsx";
import { PriceRows } from "./price-rows.tsx";

interface ModelPricePageProps {
  model: string;
  table: UseQueryResult<Output<"prices.table">>;
}

/** The page of one model's price, its rows and the actions on it. */
export function ModelPricePage({ model, table }: ModelPricePageProps) {
  const { t } = useTranslation("prices");
  const { id } = useOrganization();
  const organization = useOrganizationOptions().find((each) => each.id === id);
  const row = table.data?.data.find((each) => each.model === model);
  return (
    <Page
      title={model}
      about={`${t("for")}: ${organization?.label ?? t("for.defaults")}`}
      back={{ to: "/models/prices", label: t("title") }}
      actions={row && table.data && <PriceActions row={row} currency={table.data.currency} />}
    >
      <QueryState query={table}>
        {({ currency }) =>
          row ? (
            <>
              <Card title={t("detail.cells")}>
                <CellsTable row={row} currency={currency} />
              </Card>
              <PriceRows model={model} origin={row.origin} />
            </>
          ) : (
            <EmptyState>{t("empty.filtered")}</EmptyState>
          )
        }
      </QueryState>
    </Page>
  );
}

function PriceActions({ row, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  const can = useCan();
  const { id } = useOrganization();
  const [open, setOpen] = useState<"add" | "correct" | null>(null);
  if (!can("billing", "installation")) return null;
  const shared = { row, currency, organizationId: id, onClose: () => setOpen(null) };
  return (
    <>
      <Button onPress={() => setOpen("correct")}>{t("correct")}</Button>
      <Button kind="primary" onPress={() => setOpen("add")}>
        {t("add")}
      </Button>
      {open === "add" && <PriceDialog {...shared} />}
      {open === "correct" && <CorrectionDialog {...shared} />}
    </>
  );
}
