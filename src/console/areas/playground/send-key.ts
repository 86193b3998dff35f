import type { KeyboardEvent } from "react";

/** Sends on Ctrl or Command with Enter, from anywhere in a form. */
export function useSendKey(onSend: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSend();
  };
}
