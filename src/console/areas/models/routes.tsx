import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import type { DryRunDraft } from "./dry-run.tsx";
import type { ModelRow } from "./model-state.tsx";
import { targetName, type RouteDraft } from "./route-draft.ts";
import { RouteForm } from "./route-form.tsx";

type Route = Output<"routes.list">["data"][number];

interface OrganizationRouteProps {
  model: string;
  organization: { id: string; label: string };
  /** The default route. It applies while the organization has no route of its own. */
  fallback: RouteDraft;
  onDraft(draft: DryRunDraft | null): void;
}

/** The form for an organization's route. Shows the default route until another route is saved, and after a reset. */
export function OrganizationRoute(props: OrganizationRouteProps) {
  const { model, organization } = props;
  const query = useOperationQuery("routes.list", { organizationId: organization.id, model });
  return (
    <QueryState query={query} skeleton={<RouteSkeleton />}>
      {({ data: [route] }) => (route ? <OwnRoute {...props} route={route} /> : null)}
    </QueryState>
  );
}

/** A skeleton with the height of a route with one target, so that the content below it does not move. */
export function RouteSkeleton() {
  return <Skeleton className="h-108 w-full sm:h-88" />;
}

function OwnRoute({
  model,
  organization,
  fallback,
  route,
  onDraft,
}: OrganizationRouteProps & { route: Route }) {
  const { t } = useTranslation("models");
  const can = useCan();
  const canChange = can("admin");
  const set = useOperationMutation("routes.set", ["routes", "organizations", "models"]);
  const remove = useOperationMutation("routes.remove", ["routes", "organizations", "models"]);
  const { id: organizationId, label } = organization;
  const isOwn = route.source === "organization";
  const reset = {
    title: t("route.reset.title", { organization: label }),
    consequences: t("route.reset.targets", { targets: fallback.targets.map(targetName).join(", ") }),
    onReset: () => remove.mutateAsync({ organizationId, model }),
  };
  return (
    <RouteForm
      route={{ strategy: route.strategy, targets: route.targets }}
      subject={{ kind: "organization", id: organizationId, version: route.version }}
      origin={t(isOwn ? "route.source.organization" : "route.source.default")}
      onDraft={(draft) => onDraft(draft && { ...draft, isDefault: false })}
      // An organization's administrators may choose only the targets that the organization has been given.
      {...(!can("admin", "installation") && { known: [...fallback.targets, ...route.targets] })}
      {...(canChange && {
        onSave: (draft: RouteDraft) =>
          set.mutateAsync({ organizationId, model, version: route.version, ...draft }),
      })}
      {...(canChange && isOwn && { reset })}
    />
  );
}

/**
 * The form for the default route of a model. It is read-only for models of the configuration file or the environment,
 * and for members who may not change models.
 */
export function DefaultRoute({
  model,
  onDraft,
}: {
  model: ModelRow;
  onDraft?: OrganizationRouteProps["onDraft"];
}) {
  const { t } = useTranslation("models");
  const can = useCan();
  const { id, origin, route, version } = model;
  const canChange = can("admin", "installation") && (origin === "database" || origin === "catalogue");
  const update = useOperationMutation("models.update", ["models", "routes", "channels"]);
  const change = (draft: RouteDraft | null) =>
    update.mutateAsync({ id, route: draft, ...(version !== null && { version }) });
  const source = origin === "file" || origin === "environment" ? "file" : route.isOwn ? "own" : "catalogue";
  const reset = {
    title: t("route.resetDefault.title", { model: id }),
    consequences: t("route.resetDefault.text"),
    onReset: () => change(null),
  };
  return (
    <RouteForm
      route={{ strategy: route.strategy, targets: route.targets }}
      subject={{ kind: "model", id, version }}
      origin={t(`route.source.${source}`)}
      onDraft={(draft) => onDraft?.(draft && { ...draft, isDefault: true })}
      {...(canChange && { onSave: change })}
      {...(canChange && route.isOwn && model.isOverride && { reset })}
    />
  );
}
