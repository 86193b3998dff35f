import { useSyncExternalStore } from "react";

/** A class of screens, by how much of a table they show at once. */
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
