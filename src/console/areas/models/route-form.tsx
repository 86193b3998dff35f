import { RotateCcw } from "lucide-react";
import { useEffect, useEffectEvent, useState, type ReactNode } from "react";
import { FormProvider, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import type { FormSubject } from "../../ui/forms/conflict.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { AddKnownTarget, AddTarget } from "./add-target.tsx";
import type { DraftTarget, RouteDraft } from "./route-draft.ts";
import { TargetsField } from "./targets-field.tsx";

/** Texts and action of the dialog that resets a route to its default. */
interface RouteReset {
  title: string;
  consequences: string;
  onReset(): Promise<unknown>;
}

/** A form for a route. Without `onSave` the route can only be read. */
export function RouteForm({
  route,
  origin,
  known,
  onSave,
  onDraft,
  subject,
  reset,
}: {
  route: RouteDraft;
  /** A sentence about the origin of the route. */
  origin: ReactNode;
  /** The targets that may be added. If absent, any target may be added. */
  known?: readonly DraftTarget[];
  onSave?: (route: RouteDraft) => Promise<unknown>;
  /** Called with the edited route while it differs from the saved route, otherwise with null. */
  onDraft?: (draft: RouteDraft | null) => void;
  /** The stored record that contains the route. */
  subject: FormSubject;
  reset?: RouteReset;
}) {
  const { t } = useTranslation("models");
  const form = useViewForm<RouteDraft>(route);
  const { isDirty } = form.formState;
  const [strategy, targets] = useWatch({ control: form.control, name: ["strategy", "targets"] });
  const report = useEffectEvent((draft: RouteDraft | null) => onDraft?.(draft));
  useEffect(() => {
    report(isDirty ? { strategy, targets } : null);
    return () => report(null);
  }, [isDirty, strategy, targets]);
  const save =
    onSave &&
    (async (draft: RouteDraft) => {
      await onSave(draft);
      showToast(t("route.saved"));
    });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 text-muted">{origin}</p>
        {reset && <ResetButton {...reset} />}
      </div>
      {save ? (
        <Form form={form} submitLabel={t("route.save")} onSubmit={save} subject={subject}>
          <Fields isEditable />
          {known ? <AddKnownTarget known={known} /> : <AddTarget />}
          {isDirty && <p className="text-warn">{t("route.unsaved")}</p>}
        </Form>
      ) : (
        <FormProvider {...form}>
          <Fields isEditable={false} />
        </FormProvider>
      )}
    </div>
  );
}

function ResetButton({ title, consequences, onReset }: RouteReset) {
  const { t } = useTranslation("models");
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button icon={RotateCcw} onPress={() => setAsking(true)}>
        {t("route.reset")}
      </Button>
      <ConfirmDialog
        title={title}
        consequences={consequences}
        confirmLabel={t("route.reset")}
        isDangerous={false}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          await onReset();
          showToast(t("route.wasReset"));
        }}
      />
    </>
  );
}

function Fields({ isEditable }: { isEditable: boolean }) {
  const { t } = useTranslation("models");
  const strategy = useWatch<RouteDraft, "strategy">({ name: "strategy" });
  return (
    <>
      <ChoiceField
        name="strategy"
        label={t("route.strategy")}
        help={t(strategy === "weighted" ? "route.weighted.help" : "route.ordered.help")}
        isDisabled={!isEditable}
        choices={[
          { id: "ordered", label: t("route.ordered") },
          { id: "weighted", label: t("route.weighted") },
        ]}
      />
      <TargetsField isEditable={isEditable} />
    </>
  );
}
