/** Something that is said for a moment; a problem stays until it is closed. */
export interface ToastText {
  text: string;
  isProblem: boolean;
}

type Listener = (toast: ToastText) => void;

const waiting: ToastText[] = [];
let listener: Listener | null = null;
let load: (() => void) | null = null;

/** Says that something was done. */
export function showToast(text: string): void {
  add({ text, isProblem: false });
}

/** Says what went wrong, until it is closed. */
export function showProblem(error: unknown): void {
  add({ text: error instanceof Error ? error.message : String(error), isProblem: true });
}

/** Calls `onFirst` when the first toast is there, because what shows them is loaded only then. */
export function whenToastsAreNeeded(onFirst: () => void): void {
  load = onFirst;
}

/** Gives every toast, those that wait already too. */
export function takeToasts(take: Listener): void {
  listener = take;
  for (const toast of waiting.splice(0)) take(toast);
}

function add(toast: ToastText): void {
  if (listener) return listener(toast);
  waiting.push(toast);
  load?.();
}
