import { useNavigate } from "@tanstack/react-router";
import { Ban, Pencil, RefreshCw, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { call, type Output } from "../../api/call.ts";
import { MAX_PAGE, queryClient, useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { RotateDialog } from "../../ui/forms/rotate-dialog.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { formatItemCount } from "../../ui/text/format.ts";
import { KeyFields, NameField, toInput, valuesOf } from "./key-fields.tsx";
import type { Key } from "./key-view.tsx";
import { NewSecret } from "./new-secret.tsx";

export function KeyActions({ view }: { view: Key }) {
  const { t } = useTranslation("keys");
  const can = useCan();
  const [open, setOpen] = useState<"edit" | "rotate" | "disable" | "remove" | null>(null);
  const close = () => setOpen(null);
  const enable = useOperationMutation("keys.update", ["keys"]);
  if (!can("admin")) return null;
  const start = () =>
    enable.mutate(
      { id: view.id, isDisabled: false },
      { onSuccess: () => showToast(t("enable.done")), onError: showProblem },
    );
  return (
    <>
      <Button icon={Pencil} onPress={() => setOpen("edit")}>
        {t("edit")}
      </Button>
      <Button icon={RefreshCw} onPress={() => setOpen("rotate")}>
        {t("rotate")}
      </Button>
      {view.isDisabled ? (
        <Button icon={Undo2} onPress={start} isPending={enable.isPending}>
          {t("enable")}
        </Button>
      ) : (
        <Button icon={Ban} onPress={() => setOpen("disable")}>
          {t("disable")}
        </Button>
      )}
      <Button icon={Trash2} onPress={() => setOpen("remove")}>
        {t("remove")}
      </Button>
      <EditKeyDialog view={view} isOpen={open === "edit"} onClose={close} />
      <RotateKeyDialog view={view} isOpen={open === "rotate"} onClose={close} />
      {open === "disable" && <DisableDialog view={view} onClose={close} />}
      {open === "remove" && <RemoveDialog view={view} onClose={close} />}
    </>
  );
}

function DisableDialog({ view, onClose }: { view: Key; onClose(): void }) {
  const { t } = useTranslation("keys");
  const update = useOperationMutation("keys.update", ["keys"]);
  const used = useLastDay(view.id);
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t("disable.title", { name: view.name })}
      consequences={
        <>
          <p>{t("disable.what")}</p>
          <ul className="mt-2 list-disc pl-5 text-text">
            {used !== undefined && <li>{t("remove.requests", { count: used })}</li>}
            <OpenJobs keyId={view.id} />
          </ul>
        </>
      }
      confirmLabel={t("disable")}
      onConfirm={async () => {
        await update.mutateAsync({ id: view.id, isDisabled: true });
        showToast(t("disable.done"));
      }}
    />
  );
}

function RemoveDialog({ view, onClose }: { view: Key; onClose(): void }) {
  const { t } = useTranslation("keys");
  const navigate = useNavigate();
  const used = useLastDay(view.id);
  const budgets = useOperationQuery("budgets.list", { organizationId: view.organizationId, keyId: view.id });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t("remove.title", { name: view.name })}
      name={view.name}
      consequences={
        <>
          <p>{t("remove.what")}</p>
          <ul className="mt-2 list-disc pl-5 text-text">
            {used !== undefined && <li>{t("remove.requests", { count: used })}</li>}
            <OpenJobs keyId={view.id} />
            {budgets.data && <li>{t("remove.budgets", { count: budgets.data.data.length })}</li>}
          </ul>
        </>
      }
      confirmLabel={t("remove")}
      onConfirm={async () => {
        await call("keys.remove", { id: view.id });
        showToast(t("remove.done"));
        // The page of the deleted key is left before the queries are repeated: that page would read the key again.
        await navigate({ to: "/keys" });
        await queryClient.invalidateQueries({
          predicate: ({ queryKey }) => /^(keys|budgets)\./.test(String(queryKey[0])),
        });
      }}
    />
  );
}

interface EditKeyDialogProps {
  view: Key;
  isOpen: boolean;
  onClose(): void;
}

/** Changes a key. If somebody else has changed it since the key was read, shows the conflict instead. */
function EditKeyDialog({ view, isOpen, onClose }: EditKeyDialogProps) {
  const { t } = useTranslation("keys");
  const form = useViewForm(valuesOf(view));
  const update = useOperationMutation("keys.update", ["keys"]);
  return (
    <FormDialog
      title={t("edit.title")}
      form={form}
      subject={{ kind: "key", ...view }}
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={t("form.save")}
      onSubmit={async (values) => {
        await update.mutateAsync({ id: view.id, version: view.version, ...toInput(values) });
        showToast(t("save.done"));
      }}
    >
      <NameField />
      <KeyFields />
    </FormDialog>
  );
}

/** Gives a key a new secret. The current secret stays valid for a chosen time. */
function RotateKeyDialog({ view, isOpen, onClose }: { view: Key; isOpen: boolean; onClose(): void }) {
  const { t } = useTranslation("keys");
  const rotate = useOperationMutation("keys.rotate", ["keys"]);
  const [made, setMade] = useState<Output<"keys.rotate"> | null>(null);
  return (
    <>
      <RotateDialog
        texts={{
          title: t("rotate.title"),
          what: t("rotate.what"),
          overlap: t("rotate.overlap"),
          none: t("rotate.overlap.none"),
          submit: t("rotate.submit"),
        }}
        maxDays={30}
        isOpen={isOpen}
        onClose={onClose}
        onRotate={async (overlapMs) => setMade(await rotate.mutateAsync({ id: view.id, overlapMs }))}
      />
      {made && <NewSecret made={made} onClose={() => setMade(null)} />}
    </>
  );
}

/** Shows how many of a key's jobs have not ended. */
function OpenJobs({ keyId }: { keyId: string }) {
  const { t } = useTranslation("keys");
  const { data } = useOperationQuery("jobs.list", {
    keyId,
    status: "pending,in_progress",
    limit: MAX_PAGE,
  });
  if (!data) return null;
  return <li>{t("remove.jobs", { count: formatItemCount(data) })}</li>;
}

const DAY_MS = 86_400_000;

/** Returns the number of a key's requests in the last 24 hours; undefined until that number is read. */
function useLastDay(keyId: string): number | undefined {
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString());
  const usage = useOperationQuery("usage.list", { groupBy: "key", interval: "hour", keyId, from });
  return usage.data?.totals.requests;
}
