import type { Actor } from "./actor.ts";

/** What was said in a request, without what looks like personal data or a secret. Times are Unix milliseconds. */
export interface PromptRecord {
  /** Of the request. */
  id: string;
  at: number;
  organizationId: string;
  keyId: string;
  model: string | null;
  prompt: string;
  reply: string;
  expiresAt: number;
}

export interface PromptStore {
  add(prompts: readonly PromptRecord[]): Promise<void>;
  /** Reads one and leaves an audit row about that, or null where none is kept. */
  read(id: string, by: Actor): Promise<PromptRecord | null>;
  /** Whether one is kept for a request, and whose it is. */
  organizationOf(id: string): Promise<string | null>;
  /** Removes those that have expired, a bounded number; returns how many. */
  sweep(now: number): Promise<number>;
}
