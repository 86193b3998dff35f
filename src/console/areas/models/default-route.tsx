import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { useActing } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import type { ModelRow } from "./model-state.tsx";
import type { RouteDraft } from "./route-draft.ts";
import { RouteForm } from "./route-form.tsx";

/** The route of every organization without one of its own. Of a model in the file it is only shown. */
export function DefaultRoute({ model }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const can = useCan();
  const { id, origin, route, version } = model;
  const canChange = can("admin", "installation") && (origin === "database" || origin === "catalogue");
  const [isAsking, setAsking] = useState(false);
  const update = useActing("models.update", ["models", "routes", "channels"]);
  const change = (draft: RouteDraft | null) =>
    update.mutateAsync({ id, route: draft, ...(version !== null && { version }) });
  const save = async (draft: RouteDraft) => {
    await change(draft);
    showToast(t("route.saved"));
  };
  const reset = async () => {
    await change(null);
    showToast(t("route.wasReset"));
  };
  const source = origin === "file" || origin === "environment" ? "file" : route.isOwn ? "own" : "catalogue";
  return (
    <>
      <RouteForm
        route={{ strategy: route.strategy, targets: route.targets }}
        origin={t(`route.source.${source}`)}
        {...(canChange && { onSave: save })}
        {...(canChange && route.isOwn && model.isOverride && { onReset: () => setAsking(true) })}
      />
      <ConfirmDialog
        title={t("route.resetDefault.title", { model: id })}
        consequences={t("route.resetDefault.text")}
        confirmLabel={t("route.reset")}
        isDangerous={false}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={reset}
      />
    </>
  );
}
