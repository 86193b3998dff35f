import { useLayoutEffect, useState, useSyncExternalStore, type RefObject } from "react";

/** A class of screens, by how much of a table fits on them. */
export type Screen = "phone" | "desk" | "wide";

// The breakpoints `sm` and `3xl` of the style sheet.
const PHONE = matchMedia("(width < 40rem)");
const WIDE = matchMedia("(width >= 112rem)");

export function useScreen(): Screen {
  return useSyncExternalStore(subscribe, current);
}

function current(): Screen {
  if (PHONE.matches) return "phone";
  return WIDE.matches ? "wide" : "desk";
}

function subscribe(notify: () => void): () => void {
  for (const query of [PHONE, WIDE]) query.addEventListener("change", notify);
  return () => {
    for (const query of [PHONE, WIDE]) query.removeEventListener("change", notify);
  };
}

/**
 * Returns `value` or, while a dialog is open, the value from before the dialog was opened. A row's dialog is part of a
 * cell of the row, so a new layout of the table would close the dialog and lose the user's input.
 */
export function useWhileUncovered<Value>(value: Value): Value {
  const isCovered = useSyncExternalStore(subscribeToDialogs, hasDialog);
  const [held, setHeld] = useState(value);
  if (!isCovered && held !== value) setHeld(value);
  return isCovered ? held : value;
}

function hasDialog(): boolean {
  return document.querySelector("[data-dims-page]") !== null;
}

/** Calls `notify` when a child of the document's body is added or removed. Dialogs are such children. */
function subscribeToDialogs(notify: () => void): () => void {
  const observer = new MutationObserver(notify);
  observer.observe(document.body, { childList: true });
  return () => observer.disconnect();
}

/**
 * True while the columns of a table fit into the width of the element that scrolls the table. `columns` contains the
 * names of the visible columns; when they change, the width is measured again.
 */
export function useFit(scroller: RefObject<HTMLElement | null>, columns: string, isLoaded: boolean): boolean {
  const [needed, setNeeded] = useState({ columns, width: 0 });
  const [width, setWidth] = useState(0);
  const isFitting = needed.columns !== columns || needed.width <= width;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !isLoaded || !isFitting || element.scrollWidth <= element.clientWidth) return;
    setWidth(element.clientWidth);
    setNeeded({ columns, width: element.scrollWidth });
  });
  return isFitting;
}
