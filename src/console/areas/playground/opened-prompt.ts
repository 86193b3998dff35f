import { useRouterState } from "@tanstack/react-router";
import type { TextForm, Turn } from "./conversation.ts";

/**
 * The content with which another page opens the playground: the next message with the conversation before it, or a
 * prompt for pictures.
 */
export interface OpenedPrompt extends TextForm {
  turns: readonly Turn[];
  message: string;
}

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Stored in the browser's history and not in the address, because it may be long and is private. */
    opened?: OpenedPrompt;
  }
}

/** Returns the content that the page was opened with; null when there is none. */
export function useOpenedPrompt(): OpenedPrompt | null {
  return useRouterState({ select: ({ location }) => location.state.opened ?? null });
}
