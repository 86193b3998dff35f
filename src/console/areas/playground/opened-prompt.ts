import { useRouterState } from "@tanstack/react-router";
import type { TextForm, Turn } from "./conversation.ts";

/**
 * The content with which another page opens the playground: the next message and the conversation before it, or the
 * prompt of pictures.
 */
export interface OpenedPrompt extends TextForm {
  turns: readonly Turn[];
  message: string;
}

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Stays out of the address, as it may be long and is nobody else's. */
    opened?: OpenedPrompt;
  }
}

/** Returns what the page was opened with; null where it was opened without. */
export function useOpenedPrompt(): OpenedPrompt | null {
  return useRouterState({ select: ({ location }) => location.state.opened ?? null });
}
