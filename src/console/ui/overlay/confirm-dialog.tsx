import { useState, type ReactNode } from "react";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { TextField } from "react-aria-components/TextField";
import { useTranslation } from "react-i18next";
import { Button } from "../forms/button.tsx";
import { INPUT } from "../forms/field-class.ts";
import { Problem } from "../forms/form-problem.tsx";
import { Dialog } from "./dialog.tsx";

interface ConfirmDialogProps {
  title: string;
  /** The consequences, with figures if there are any, such as '3 keys and 2 running jobs lose access'. */
  consequences: ReactNode;
  /** The action in few words, such as Delete. */
  confirmLabel: string;
  /** A name that the user must type first. For actions that cannot be undone. */
  name?: string;
  /** False for an action that is not dangerous. */
  isDangerous?: boolean;
  isOpen: boolean;
  onClose(): void;
  /**
   * Called when the user confirms. The dialog closes when the promise resolves, and shows the error when it rejects.
   */
  onConfirm(): Promise<unknown>;
}

/** Shows the consequences of an action and asks for confirmation. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return props.isOpen ? <OpenConfirmDialog {...props} /> : null;
}

function OpenConfirmDialog({
  title,
  consequences,
  confirmLabel,
  name,
  isDangerous = true,
  onClose,
  onConfirm,
}: ConfirmDialogProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isReady = name === undefined || typed.trim() === name;
  const confirm = async () => {
    if (!isReady) return;
    setPending(true);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setPending(false);
    }
  };
  const footer = (
    <>
      <Button onPress={onClose}>{t("cancel")}</Button>
      <Button
        kind={isDangerous ? "danger" : "primary"}
        isDisabled={!isReady}
        isPending={isPending}
        onPress={() => void confirm()}
      >
        {confirmLabel}
      </Button>
    </>
  );
  return (
    <Dialog title={title} isOpen onClose={onClose} size="s" isAlert footer={footer}>
      <div className="flex flex-col gap-4 pb-3">
        <div className="text-muted">{consequences}</div>
        {name !== undefined && (
          <TextField
            autoFocus
            value={typed}
            onChange={setTyped}
            onKeyDown={(event) => event.key === "Enter" && void confirm()}
            className="flex flex-col gap-1.5"
          >
            <Label className="font-medium">{t("confirm.type", { name })}</Label>
            <Input className={INPUT} autoComplete="off" spellCheck="false" />
          </TextField>
        )}
        {problem !== null && <Problem>{problem}</Problem>}
      </div>
    </Dialog>
  );
}
