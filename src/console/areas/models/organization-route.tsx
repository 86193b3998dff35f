import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { ReadingState } from "../../ui/page/reading-state.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import type { Output } from "../../api/call.ts";
import { useActing, useReading } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { targetName, type RouteDraft } from "./route-draft.ts";
import { RouteForm } from "./route-form.tsx";
import { RouteSkeleton } from "./route-skeleton.tsx";

type Route = Output<"routes.list">["data"][number];

interface OrganizationRouteProps {
  model: string;
  organization: { id: string; label: string };
  /** What holds without a route of its own. */
  fallback: RouteDraft;
}

/** The route of one organization: the default until it is saved as its own, and again after a reset. */
export function OrganizationRoute(props: OrganizationRouteProps) {
  const { model, organization } = props;
  const query = useReading("routes.list", { organizationId: organization.id, model });
  return (
    <ReadingState query={query} skeleton={<RouteSkeleton />}>
      {({ data: [route] }) => (route ? <OwnRoute {...props} route={route} /> : null)}
    </ReadingState>
  );
}

function OwnRoute({ model, organization, fallback, route }: OrganizationRouteProps & { route: Route }) {
  const { t } = useTranslation("models");
  const can = useCan();
  const canChange = can("admin");
  const [isAsking, setAsking] = useState(false);
  const set = useActing("routes.set", ["routes", "organizations", "models"]);
  const remove = useActing("routes.remove", ["routes", "organizations", "models"]);
  const { id: organizationId, label } = organization;
  const isOwn = route.source === "organization";
  const save = async (draft: RouteDraft) => {
    await set.mutateAsync({ organizationId, model, version: route.version, ...draft });
    showToast(t("route.saved"));
  };
  const reset = async () => {
    await remove.mutateAsync({ organizationId, model });
    showToast(t("route.wasReset"));
  };
  return (
    <>
      <RouteForm
        route={{ strategy: route.strategy, targets: route.targets }}
        origin={t(isOwn ? "route.source.organization" : "route.source.default")}
        // An organization's own administrators choose among the targets that it has been given.
        {...(!can("admin", "installation") && { known: [...fallback.targets, ...route.targets] })}
        {...(canChange && { onSave: save })}
        {...(canChange && isOwn && { onReset: () => setAsking(true) })}
      />
      <ConfirmDialog
        title={t("route.reset.title", { organization: label })}
        consequences={t("route.reset.targets", { targets: fallback.targets.map(targetName).join(", ") })}
        confirmLabel={t("route.reset")}
        isDangerous={false}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={reset}
      />
    </>
  );
}
