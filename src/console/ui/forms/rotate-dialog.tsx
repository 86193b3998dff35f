import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { FormDialog } from "./form-dialog.tsx";
import { SelectField } from "./select-field.tsx";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OVERLAPS = [0, HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS];

interface RotateDialogProps {
  /**
   * `what` describes the effect. `overlap` is the label for the time in which the current secret stays valid. `none` is
   * the option to end the current secret immediately.
   */
  texts: { title: string; what: string; overlap: string; none: string; submit: string };
  /** Maximum number of days for which the current secret stays valid. */
  maxDays: number;
  isOpen: boolean;
  onClose(): void;
  /** Replaces the secret. The current secret stays valid for `overlapMs`. */
  onRotate(overlapMs: number): Promise<unknown>;
}

/** Asks how long the current secret stays valid, then replaces it. */
export function RotateDialog({ texts, maxDays, isOpen, onClose, onRotate }: RotateDialogProps) {
  const { t } = useTranslation();
  const form = useForm({ defaultValues: { overlap: String(DAY_MS) } });
  const nameOf = (ms: number) => {
    if (ms === 0) return texts.none;
    return ms < DAY_MS
      ? t("overlap.hours", { count: ms / HOUR_MS })
      : t("overlap.days", { count: ms / DAY_MS });
  };
  return (
    <FormDialog
      title={texts.title}
      form={form}
      size="s"
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={texts.submit}
      onSubmit={({ overlap }) => onRotate(Number(overlap))}
    >
      <p className="text-muted">{texts.what}</p>
      <SelectField
        name="overlap"
        label={texts.overlap}
        options={OVERLAPS.filter((ms) => ms <= maxDays * DAY_MS).map((ms) => ({
          id: String(ms),
          label: nameOf(ms),
        }))}
      />
    </FormDialog>
  );
}
