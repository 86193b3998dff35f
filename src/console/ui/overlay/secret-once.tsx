import { Check, Copy, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../forms/button.tsx";
import { CodeSnippet, type Snippet } from "../text/code-snippet.tsx";
import { useCopy } from "../text/copy.ts";
import { Dialog } from "./dialog.tsx";

interface SecretOnceProps {
  title: string;
  /** A sentence in place of the usual notice that the secret is shown only once. */
  about?: string;
  /** Null while there is nothing to show. */
  secret: string | null;
  /** Code that contains the secret, such as example calls. `keySnippets` makes the code for a key. */
  snippets?: readonly Snippet[];
  onClose(): void;
}

/** Shows a secret once. Escape closes the dialog only after the user has copied the secret. */
export function SecretOnce({ title, about, secret, snippets = [], onClose }: SecretOnceProps) {
  const { t } = useTranslation();
  const { isCopied, copy } = useCopy(secret ?? "");
  const [isHeld, setHeld] = useState(true);
  const copyOnce = async () => {
    if (await copy()) setHeld(false);
  };
  if (secret === null) return null;
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      isAlert
      isHeld={isHeld}
      footer={
        <Button kind="primary" onPress={onClose}>
          {t("secret.done")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
        <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0" />
          {about ?? t("secret.once")}
        </p>
        <div className="flex flex-wrap items-center gap-2">
          <code
            data-secret
            className="min-w-0 flex-1 rounded-md border border-line bg-sunken px-3 py-1.5 font-mono text-xs leading-5 break-all whitespace-pre-wrap"
          >
            {secret}
          </code>
          <Button autoFocus icon={isCopied ? Check : Copy} onPress={() => void copyOnce()}>
            {isCopied ? t("copied") : t("copy")}
          </Button>
        </div>
        {snippets.length > 0 && <CodeSnippet label={t("snippets")} snippets={snippets} />}
      </div>
    </Dialog>
  );
}
