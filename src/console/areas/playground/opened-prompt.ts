import { useRouterState } from "@tanstack/react-router";
import type { TextForm, Turn } from "./conversation.ts";

/** The content that another page passes to the playground: a conversation and its next message, or an image prompt. */
export interface OpenedPrompt extends TextForm {
  turns: readonly Turn[];
  message: string;
}

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Stored in the browser's history and not in the address, because a prompt may be long and is private. */
    opened?: OpenedPrompt;
  }
}

/** Returns the content with which the page was opened; null when there is none. */
export function useOpenedPrompt(): OpenedPrompt | null {
  return useRouterState({ select: ({ location }) => location.state.opened ?? null });
}
