import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Id } from "../../ui/text/id.tsx";
import { ButtonLink } from "../../ui/text/link.tsx";
import { DryRun, type DryRunDraft } from "./dry-run.tsx";
import { ModelAccess } from "./model-access.tsx";
import { ModelActions } from "./model-actions.tsx";
import { Capabilities, ModelFacts, Prices } from "./model-facts.tsx";
import type { ModelRow } from "./model-state.tsx";
import { PlainSelect } from "./plain-select.tsx";
import { DefaultRoute, OrganizationRoute, RouteSkeleton } from "./routes.tsx";

/** The page of one model: its capabilities, prices, access and routes. */
export default function ModelPage() {
  // The dry run uses the `prices` texts. If they were loaded only with the dry run, the whole page would wait for them.
  const { t } = useTranslation(["models", "prices", "money"]);
  const { filters } = useFilters();
  const id = filters["model"] ?? "";
  const { id: organizationId } = useOrganization();
  const query = useOperationQuery("models.get", { id, ...(organizationId !== null && { organizationId }) });
  return (
    <Page
      title={query.data?.displayName ?? id}
      about={<Id value={id} />}
      tabs={<AreaTabs area="models" />}
      actions={
        <>
          {query.data && <ModelActions model={query.data} />}
          <ButtonLink to="/models">{t("detail.all")}</ButtonLink>
        </>
      }
    >
      <QueryState query={query} missing={t("detail.none", { id })}>
        {(model) => <ModelDetail key={model.id} model={model} />}
      </QueryState>
    </Page>
  );
}

function ModelDetail({ model }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const canPrice = useCan()("billing", "installation");
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2 xl:grid-cols-[minmax(18rem,26rem)_1fr]">
      <div className="flex min-w-0 flex-col gap-6">
        <Card title={t("detail.facts")}>
          <ModelFacts model={model} />
        </Card>
        <Card title={t("detail.capabilities")}>
          <Capabilities model={model} />
        </Card>
        <Card
          title={t("detail.prices")}
          actions={
            canPrice && (
              <ButtonLink kind="quiet" to="/models/prices" search={{ model: model.id }}>
                {t("detail.prices.action")}
              </ButtonLink>
            )
          }
        >
          <Prices price={model.price} />
        </Card>
        <ModelAccess model={model} />
      </div>
      <div className="order-first flex min-w-0 flex-col gap-6 lg:order-none">
        {model.route.targets.length > 0 ? <RouteAndDryRun model={model} /> : <UnservedRoute model={model} />}
      </div>
    </div>
  );
}

/** Shows the route and, below it, a dry run, which also uses unsaved changes of the route. */
function RouteAndDryRun({ model }: { model: ModelRow }) {
  const [draft, setDraft] = useState<DryRunDraft | null>(null);
  return (
    <>
      <RouteCard model={model} onDraft={setDraft} />
      <SampleRun model={model.id} draft={draft} />
    </>
  );
}

/** Shows the route of the current organization, or the default route. */
function RouteCard({ model, onDraft }: { model: ModelRow; onDraft(draft: DryRunDraft | null): void }) {
  const { t } = useTranslation("models");
  const { id, choose } = useOrganization();
  const organizations = useOrganizationOptions();
  const [isDefault, setDefault] = useState(false);
  const organization = isDefault ? undefined : organizations.find((each) => each.id === id);
  return (
    <Card title={t("route.title")}>
      <div className="flex flex-col gap-5">
        <PlainSelect
          label={t("route.of")}
          value={organization?.id ?? null}
          options={organizations}
          none={t("route.default")}
          onChange={(chosen) => {
            setDefault(chosen === null);
            if (chosen !== null) choose(chosen);
          }}
        />
        {organizations.length === 0 && <RouteSkeleton />}
        {organizations.length > 0 && organization && (
          <OrganizationRoute
            key={organization.id}
            model={model.id}
            organization={organization}
            fallback={model.route}
            onDraft={onDraft}
          />
        )}
        {organizations.length > 0 && !organization && <DefaultRoute model={model} onDraft={onDraft} />}
      </div>
    </Card>
  );
}

/** Shows the default route of a model that no channel serves. Requests for such a model cannot be routed. */
function UnservedRoute({ model }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const canConnect = useCan()("admin", "installation");
  return (
    <Card
      title={t("route.title")}
      about={t("route.unserved")}
      actions={canConnect && <ButtonLink to="/models/providers/add">{t("route.unserved.action")}</ButtonLink>}
    >
      <div className="flex flex-col gap-5">
        <DefaultRoute model={model} />
      </div>
    </Card>
  );
}

/** Shows a dry run for the current organization, or for the first organization when none is chosen. */
function SampleRun({ model, draft }: { model: string; draft: DryRunDraft | null }) {
  const { id } = useOrganization();
  const [first] = useOrganizationOptions();
  const organizationId = id ?? first?.id;
  return organizationId === undefined ? null : (
    <DryRun key={`${organizationId} ${model}`} model={model} organizationId={organizationId} draft={draft} />
  );
}
