import { Building2 } from "lucide-react";
import { useTranslation } from "react-i18next";
import { AreaTabs } from "../components/area-tabs.tsx";
import { ChoiceSelect } from "../components/choice-select.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Page } from "../components/page.tsx";
import { ReadingState } from "../components/reading-state.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { ControlForm } from "./images/control-form.tsx";
import { useOrganizationOptions } from "../lib/options.ts";
import { useOrganization } from "../lib/organization.ts";
import { useReading } from "../lib/queries.ts";

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
  const organization = useReading("organizations.get", { id });
  return (
    <ReadingState
      query={organization}
      skeleton={
        <div className="flex flex-col gap-5">
          <Skeleton className="h-80" />
          <Skeleton className="h-56" />
          <Skeleton className="h-48" />
        </div>
      }
    >
      {(data) => <ControlForm key={`${data.id} ${data.version}`} organization={data} />}
    </ReadingState>
  );
}
