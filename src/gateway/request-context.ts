import type { StoredImage } from "../domain/delivered-image.ts";
import type { Model } from "../domain/model.ts";
import { RequestContent } from "../domain/request-content.ts";
import type { Principal } from "../domain/api-key.ts";
import type { Attempt, LedgerEntry } from "../domain/ledger.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";

/** One authenticated request as the core sees it: without HTTP. */
export interface RequestContext {
  /** The gateway's own id; the key of its ledger entry. */
  id: string;
  /** The caller's `X-Request-Id` where it sent a usable one, else `id`. */
  requestId: string;
  principal: Principal;
  /** Who sent it, for the ledger; null is the holder of the key. */
  source: string | null;
  /** What it counts in the limits. */
  grant: LimitGrant;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Whether the outcome is kept for who repeats the request. */
  isOutcomeKept: boolean;
  /** Every call to a vendor, added as it ends. */
  attempts: Attempt[];
  facts: RequestFacts;
}

/** What the core learns of a request. The server makes its log record from it; nothing decides by it. */
export interface RequestFacts {
  /** Once it is known to exist. */
  model: Model | null;
  /** The charge, once it is recorded. */
  charge: LedgerEntry | null;
  /** Pictures a vendor made beyond those requested; neither delivered nor billed. */
  surplus: number;
  /** Delivered pictures that were stored. */
  pictures: readonly StoredImage[];
  /** What was said; null unless the organization has it logged. */
  content: RequestContent | null;
}

const NO_PICTURES: readonly StoredImage[] = [];

export function newRequestFacts(): RequestFacts {
  return { model: null, charge: null, surplus: 0, pictures: NO_PICTURES, content: null };
}

/** Begins to note what is said, where the request's organization has it logged. */
export function noteContent({ principal, facts }: RequestContext, prompt: string): void {
  const { promptLogDays } = principal.organization.settings;
  if (promptLogDays !== null) facts.content = new RequestContent(prompt, promptLogDays);
}
