import { useState } from "react";
import { useTranslation } from "react-i18next";
import { showProblem } from "../overlay/toast.ts";

const SHOWN_MS = 1_500;

/** Returns a function that copies a text and resolves with true if it did. `isCopied` is true for a moment after that. */
export function useCopy(text: string): { isCopied: boolean; copy(): Promise<boolean> } {
  const copyText = useCopyText();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    const isDone = await copyText(text);
    setCopied(isDone);
    setTimeout(() => setCopied(false), SHOWN_MS);
    return isDone;
  };
  return { isCopied, copy };
}

/** Returns a function that copies a text. It resolves with false, and says so, if the browser does not allow it. */
export function useCopyText(): (text: string) => Promise<boolean> {
  const { t } = useTranslation();
  return async (text) => {
    const isDone = (await isWritten(text)) || isCopiedByCommand(text);
    if (!isDone) showProblem(t("notCopied"));
    return isDone;
  };
}

/** Copies by the clipboard API, which works only on secure pages and only where the browser permits it. */
async function isWritten(text: string): Promise<boolean> {
  if (!window.isSecureContext) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** Copies by the browser's command, which takes a selected text. */
function isCopiedByCommand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}
