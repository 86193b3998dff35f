import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { ApiError } from "../../api/call.ts";
import { useActing } from "../../api/queries.ts";
import type { PriceRow } from "./cells.ts";

/** Ends a row. Where models would lose their price the gateway says which; only then it can be forced. */
export function EndPriceDialog({ row, onClose }: { row: PriceRow; onClose(): void }) {
  const { t } = useTranslation("prices");
  const [isRefused, setRefused] = useState(false);
  const end = useActing("prices.end", ["prices", "models", "overview"]);
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
