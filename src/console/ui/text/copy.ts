import { useState } from "react";

const SHOWN_MS = 1_500;

/** Returns a function that copies a text. `isCopied` is true for a moment after each copy. */
export function useCopy(text: string): { isCopied: boolean; copy(): void } {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void copyText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    });
  };
  return { isCopied, copy };
}

/** Copies a text. The clipboard API works only on secure pages. On other pages, a command copies the selected text. */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return await navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
