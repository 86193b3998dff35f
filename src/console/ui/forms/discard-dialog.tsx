import { useTranslation } from "react-i18next";
import { Dialog } from "../overlay/dialog.tsx";
import { Button } from "./button.tsx";

/** Asks before unsaved changes are lost. */
export function DiscardDialog({
  isOpen,
  onDiscard,
  onKeep,
}: {
  isOpen: boolean;
  onDiscard(): void;
  onKeep(): void;
}) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={t("unsaved.title")}
      isOpen={isOpen}
      onClose={onKeep}
      size="s"
      isAlert
      footer={
        <>
          <Button onPress={onDiscard}>{t("discard")}</Button>
          <Button kind="primary" autoFocus onPress={onKeep}>
            {t("unsaved.keep")}
          </Button>
        </>
      }
    >
      <p className="text-muted">{t("unsaved.text")}</p>
    </Dialog>
  );
}
