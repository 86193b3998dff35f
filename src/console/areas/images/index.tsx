import { Building2 } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { ChoiceSelect } from "../../ui/forms/choice-select.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { ControlForm } from "./control-form.tsx";

export default function ImageControlsPage() {
  const { t } = useTranslation("images");
  const { id, choose } = useOrganization();
  const options = useOrganizationOptions();
  const current = id ?? options[0]?.id;
  const choice = current !== undefined && options.length > 1 && (
    <ChoiceSelect
      label={t("organization", { ns: "shell" })}
      options={options}
      value={current}
      onChange={choose}
    />
  );
  return (
    <Page title={t("title")} about={t("about")} tabs={<AreaTabs area="images" />} actions={choice}>
      {current === undefined ? (
        <EmptyState icon={Building2}>{t("noOrganization")}</EmptyState>
      ) : (
        <Controls id={current} />
      )}
    </Page>
  );
}

function Controls({ id }: { id: string }) {
  const organization = useOperationQuery("organizations.get", { id });
  return (
    <QueryState
      query={organization}
      skeleton={
        <div className="flex flex-col gap-5">
          <Skeleton className="h-80" />
          <Skeleton className="h-56" />
          <Skeleton className="h-48" />
        </div>
      }
    >
      {(data) => <ControlForm key={data.id} organization={data} />}
    </QueryState>
  );
}
