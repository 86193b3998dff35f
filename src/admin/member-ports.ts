import type { Actor } from "./actor.ts";

export interface AdministratorStore {
  /** False when the name is taken. */
  create(
    administrator: { id: string; name: string; passwordHash: string; createdAt: number },
    by: Actor,
  ): Promise<boolean>;
  get(name: string): Promise<{ id: string; name: string; passwordHash: string } | null>;
  setPassword(name: string, passwordHash: string, by: Actor): Promise<boolean>;
}

/** A sign-in to the console. Times are Unix milliseconds. */
export interface SessionRecord {
  /** SHA-256 of its token. */
  hash: string;
  administratorId: string;
  createdAt: number;
  /** Of its last request, to the minute. */
  seenAt: number;
  address: string;
  agent: string;
}

export interface SessionStore {
  create(session: SessionRecord): Promise<void>;
  get(hash: string): Promise<(SessionRecord & { administratorName: string }) | null>;
  touch(hash: string, at: number): Promise<void>;
  remove(hash: string): Promise<void>;
}
