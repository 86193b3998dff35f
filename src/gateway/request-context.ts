import type { StoredImage } from "../domain/image.ts";
import type { Model } from "../domain/model.ts";
import { RequestContent } from "../domain/request-content.ts";
import type { Principal } from "../domain/api-key.ts";
import type { Attempt, LedgerEntry } from "../domain/ledger.ts";
import type { RequestTrace } from "../domain/trace.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";

/** One authenticated request as the core sees it: without HTTP. */
export interface RequestContext {
  /** The gateway's own id; the key of its ledger entry. */
  id: string;
  /** The caller's `X-Request-Id` if it is usable, else `id`. */
  requestId: string;
  principal: Principal;
  /** The sender, for the ledger; null for the holder of the key. */
  source: string | null;
  /** The program that sent the request, as `clientProgram` names it. */
  client: string | null;
  /** The counts of the request in the limits. */
  grant: LimitGrant;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** True when the outcome is kept for repetitions of the request. */
  isOutcomeKept: boolean;
  /** True when a field that would have no effect is refused. */
  isStrict: boolean;
  /** Every call to a vendor, added as it ends. */
  attempts: Attempt[];
  facts: RequestFacts;
  /** The request's trace, while traces are exported. */
  trace?: RequestTrace | null;
}

/**
 * Facts that the core learns about a request. The server makes its log record from them; no decision depends on them.
 */
export interface RequestFacts {
  /** The model name in the caller's request, unchanged. */
  askedModel: string | null;
  /** The requested model; null until it is known to exist. */
  model: Model | null;
  /** The recorded charge; null until it is recorded. */
  charge: LedgerEntry | null;
  /** Number of pictures a vendor made beyond those requested; neither delivered nor billed. */
  surplus: number;
  /** Delivered pictures that were stored. */
  pictures: readonly StoredImage[];
  /** Prompt and reply; null unless the organization has them logged. */
  content: RequestContent | null;
}

const NO_PICTURES: readonly StoredImage[] = [];

export function newRequestFacts(): RequestFacts {
  return { askedModel: null, model: null, charge: null, surplus: 0, pictures: NO_PICTURES, content: null };
}

/** Begins to record prompt and reply if the request's organization has them logged. */
export function noteContent({ principal, facts }: RequestContext, prompt: string): void {
  const { promptLogDays } = principal.organization.settings;
  if (promptLogDays !== null) facts.content = new RequestContent(prompt, promptLogDays);
}
