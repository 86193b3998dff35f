import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { SelectField } from "../../components/fields/select-field.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import type { Output } from "../../lib/api.ts";
import { useActing } from "../../lib/queries.ts";
import type { Key } from "./key-view.tsx";
import { NewSecret } from "./new-secret.tsx";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OVERLAPS = [0, HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS];

/** Gives a key another secret; the present one stays valid for a time. */
export function RotateKeyDialog({ view, isOpen, onClose }: { view: Key; isOpen: boolean; onClose(): void }) {
  const { t } = useTranslation("keys");
  const form = useForm({ defaultValues: { overlap: String(DAY_MS) } });
  const rotate = useActing("keys.rotate", ["keys"]);
  const [made, setMade] = useState<Output<"keys.rotate"> | null>(null);
  const nameOf = (ms: number) => {
    if (ms === 0) return t("rotate.overlap.none");
    return ms < DAY_MS
      ? t("rotate.overlap.hours", { count: ms / HOUR_MS })
      : t("rotate.overlap.days", { count: ms / DAY_MS });
  };
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
        <SelectField
          name="overlap"
          label={t("rotate.overlap")}
          options={OVERLAPS.map((ms) => ({ id: String(ms), label: nameOf(ms) }))}
        />
      </FormDialog>
      {made && <NewSecret made={made} onClose={() => setMade(null)} />}
    </>
  );
}
