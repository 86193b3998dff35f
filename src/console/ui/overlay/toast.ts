/** A message that is shown for a moment. A problem stays until the user closes it. */
export interface ToastText {
  text: string;
  isProblem: boolean;
}

type Listener = (toast: ToastText) => void;

const waiting: ToastText[] = [];
let listener: Listener | null = null;
let load: (() => void) | null = null;

/** Shows a message about something that was done. */
export function showToast(text: string): void {
  add({ text, isProblem: false });
}

/** Shows an error until the user closes it. */
export function showProblem(error: unknown): void {
  add({ text: error instanceof Error ? error.message : String(error), isProblem: true });
}

/** Sets a function that is called at the first toast, to load the component that shows toasts. */
export function whenToastsAreNeeded(onFirst: () => void): void {
  load = onFirst;
}

/** Passes every toast to `take`, first the toasts that are already waiting. */
export function takeToasts(take: Listener): void {
  listener = take;
  for (const toast of waiting.splice(0)) take(toast);
}

function add(toast: ToastText): void {
  if (listener) return listener(toast);
  waiting.push(toast);
  load?.();
}
