import { useSyncExternalStore } from "react";

const TICK_MS = 20_000;

let now = Date.now();

/** Now, to within some seconds; a component that uses it renders again as time goes on. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(notify: () => void): () => void {
  // What has just been shown may be younger than the last tick.
  now = Date.now();
  const timer = setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    notify();
  }, TICK_MS);
  return () => clearInterval(timer);
}
