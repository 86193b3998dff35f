import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { OverlapField, DEFAULT_OVERLAP } from "../../ui/forms/overlap-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import type { Output } from "../../api/call.ts";
import { useActing } from "../../api/queries.ts";
import type { Key } from "./key-view.tsx";
import { NewSecret } from "./new-secret.tsx";

/** Gives a key another secret; the present one stays valid for a time. */
export function RotateKeyDialog({ view, isOpen, onClose }: { view: Key; isOpen: boolean; onClose(): void }) {
  const { t } = useTranslation("keys");
  const form = useForm({ defaultValues: { overlap: DEFAULT_OVERLAP } });
  const rotate = useActing("keys.rotate", ["keys"]);
  const [made, setMade] = useState<Output<"keys.rotate"> | null>(null);
  return (
    <>
      <FormDialog
        title={t("rotate.title")}
        form={form}
        size="s"
        isOpen={isOpen}
        onClose={onClose}
        submitLabel={t("rotate.submit")}
        onSubmit={async ({ overlap }) =>
          setMade(await rotate.mutateAsync({ id: view.id, overlapMs: Number(overlap) }))
        }
      >
        <p className="text-muted">{t("rotate.what")}</p>
        <OverlapField
          name="overlap"
          label={t("rotate.overlap")}
          mostDays={30}
          none={t("rotate.overlap.none")}
        />
      </FormDialog>
      {made && <NewSecret made={made} onClose={() => setMade(null)} />}
    </>
  );
}
