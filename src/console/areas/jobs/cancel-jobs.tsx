import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import type { JobRow } from "./states.ts";

const ENDED = 409;

/** Shows the number of jobs to cancel and asks for confirmation. Shows the outcome afterwards. */
export function CancelJobs({
  jobs,
  isOpen,
  onClose,
  onDone,
}: {
  jobs: readonly JobRow[];
  isOpen: boolean;
  onClose(): void;
  onDone?(): void;
}) {
  const { t } = useTranslation("jobs");
  const cancel = useOperationMutation("jobs.cancel", ["jobs"]);
  const waiting = jobs.filter(({ status }) => status === "pending").length;
  const running = jobs.length - waiting;
  const cancelAll = async () => {
    let late = 0;
    for (const { id } of jobs)
      await cancel.mutateAsync({ id }).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === ENDED)) throw error;
        late++;
      });
    if (late < jobs.length) showToast(t("cancel.done", { count: jobs.length - late }));
    if (late > 0) showToast(t("cancel.late", { count: late }));
    onDone?.();
  };
  return (
    <ConfirmDialog
      title={t("cancel.title", { count: jobs.length })}
      consequences={
        <>
          {waiting > 0 && <p>{t("cancel.waiting", { count: waiting })}</p>}
          {running > 0 && <p>{t("cancel.running", { count: running })}</p>}
        </>
      }
      confirmLabel={t("cancel.some", { count: jobs.length })}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={cancelAll}
    />
  );
}
