/** A message that is shown for a moment; a problem stays until it is closed. */
export interface ToastText {
  text: string;
  isProblem: boolean;
}

type Listener = (toast: ToastText) => void;

const waiting: ToastText[] = [];
let listener: Listener | null = null;
let load: (() => void) | null = null;

/** Shows that something was done. */
export function showToast(text: string): void {
  add({ text, isProblem: false });
}

/** Shows an error until it is closed. */
export function showProblem(error: unknown): void {
  add({ text: error instanceof Error ? error.message : String(error), isProblem: true });
}

/** Calls `onFirst` at the first toast. The component that shows toasts is loaded only then. */
export function whenToastsAreNeeded(onFirst: () => void): void {
  load = onFirst;
}

/** Passes every toast to `take`, beginning with those that wait already. */
export function takeToasts(take: Listener): void {
  listener = take;
  for (const toast of waiting.splice(0)) take(toast);
}

function add(toast: ToastText): void {
  if (listener) return listener(toast);
  waiting.push(toast);
  load?.();
}
