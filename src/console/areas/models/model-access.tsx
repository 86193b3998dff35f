import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { MAX_PAGE, useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { formatItemCount } from "../../ui/text/format.ts";
import { Status } from "../../ui/text/status.tsx";
import { isEnabled, withModel, type ModelRow } from "./model-state.tsx";

type Organization = Output<"organizations.list">["data"][number];

const MAX_LISTED = 200;

/** Lists up to `MAX_LISTED` organizations with their access to a model. Administrators can change the access. */
export function ModelAccess({ model }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const { data } = useOperationQuery("organizations.list", { limit: MAX_LISTED });
  return (
    <Card title={t("access.title")}>
      <ul className="flex flex-col divide-y divide-line">
        {data?.data.map((organization) => (
          <OrganizationAccess key={organization.id} model={model.id} organization={organization} />
        ))}
      </ul>
    </Card>
  );
}

function OrganizationAccess({ model, organization }: { model: string; organization: Organization }) {
  const { t } = useTranslation("models");
  const canChange = useCan()("admin", "installation");
  const [isAsking, setAsking] = useState(false);
  const update = useOperationMutation("organizations.update", ["organizations", "models", "routes"]);
  const { id, name, models, version } = organization;
  const isOn = isEnabled(models, model);
  const change = async (isWanted: boolean) => {
    await update.mutateAsync({ id, version, models: withModel(models, model, isWanted) });
    showToast(t(isWanted ? "access.enabled" : "access.disabled", { organization: name }));
  };
  return (
    <li className="flex flex-wrap items-center gap-3 py-2">
      <span className="min-w-0 flex-1 break-words">{name}</span>
      <Status level={isOn ? "good" : "off"}>{t(isOn ? "access.on" : "access.off")}</Status>
      {canChange && (
        <Button
          kind="quiet"
          aria-label={t(isOn ? "access.disable" : "access.enable", { organization: name })}
          onPress={() => (isOn ? setAsking(true) : void change(true).catch(showProblem))}
        >
          {t(isOn ? "access.disableShort" : "access.enableShort")}
        </Button>
      )}
      <ConfirmDialog
        title={t("access.disable.title", { model, organization: name })}
        consequences={<KeysAffected organizationId={id} />}
        confirmLabel={t("access.disableShort")}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => change(false)}
      />
    </li>
  );
}

function KeysAffected({ organizationId }: { organizationId: string }) {
  const { t } = useTranslation("models");
  const { data: keys } = useOperationQuery("keys.list", { organizationId, limit: MAX_PAGE });
  const { data: jobs } = useOperationQuery("jobs.list", { organizationId, status: "pending,in_progress" });
  return (
    <>
      {keys && <p>{t("access.disable.keys", { count: keys.data.length, shown: formatItemCount(keys) })}</p>}
      {(jobs?.data.length ?? 0) > 0 && <p>{t("access.disable.jobs")}</p>}
    </>
  );
}
