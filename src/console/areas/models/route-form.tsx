import { RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { AddKnownTarget, AddTarget } from "./add-target.tsx";
import type { DraftTarget, RouteDraft } from "./route-draft.ts";
import { TargetsField } from "./targets-field.tsx";

/** Writes a route. Without `onSave` it is only shown. */
export function RouteForm({
  route,
  origin,
  known,
  onSave,
  onReset,
}: {
  route: RouteDraft;
  /** Where it comes from, in a sentence. */
  origin: ReactNode;
  /** The only targets that may be added; any where it is absent. */
  known?: readonly DraftTarget[];
  onSave?: (route: RouteDraft) => Promise<unknown>;
  onReset?: () => void;
}) {
  const { t } = useTranslation("models");
  const form = useForm<RouteDraft>({ values: route });
  const { isDirty } = form.formState;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 text-muted">{origin}</p>
        {onReset && (
          <Button icon={RotateCcw} onPress={onReset}>
            {t("route.reset")}
          </Button>
        )}
      </div>
      {onSave ? (
        <Form form={form} submitLabel={t("route.save")} onSubmit={onSave}>
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
