import type { StoredImage } from "../domain/image.ts";
import type { Model } from "../domain/model.ts";
import { RequestContent } from "../domain/request-content.ts";
import type { Principal } from "../domain/api-key.ts";
import type { Attempt, LedgerEntry } from "../domain/ledger.ts";
import type { RequestTrace } from "../domain/trace.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";

/** One authenticated request in the core, independent of HTTP. */
export interface RequestContext {
  /** The gateway's own id of the request; the key of its ledger entry. */
  id: string;
  /** The caller's `X-Request-Id` if it is usable, else `id`. */
  requestId: string;
  principal: Principal;
  /** `playground/` and the name of the member who sent the request in the console, for the ledger; otherwise null. */
  source: string | null;
  /** The program that sent the request, as `clientProgram` names it; null without a `user-agent`. */
  client: string | null;
  /** The amounts that the limits have counted for this request. */
  grant: LimitGrant;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** True when the outcome is kept, so that a repetition of the request gets this outcome. */
  isOutcomeKept: boolean;
  /** True when a field without effect must be refused. */
  isStrict: boolean;
  /** All calls to vendors. A call is added when its reply is used or it has failed. */
  attempts: Attempt[];
  facts: RequestFacts;
  /** The request's trace, while traces are exported. */
  trace?: RequestTrace | null;
}

/** Facts that the core learns about a request, for the server's log record. No decision depends on these facts. */
export interface RequestFacts {
  /** The model name in the caller's request, unchanged; null until admission reads it. */
  askedModel: string | null;
  /** The requested model; null until the model is found. */
  model: Model | null;
  /** The charge; null until it is recorded. */
  charge: LedgerEntry | null;
  /** Number of pictures beyond the requested number. These pictures are neither delivered nor billed. */
  surplus: number;
  /** The delivered pictures that were stored. */
  pictures: readonly StoredImage[];
  /** Prompt and reply; null unless the organization logs prompts and the request was admitted. */
  content: RequestContent | null;
}

const NO_PICTURES: readonly StoredImage[] = [];

export function newRequestFacts(): RequestFacts {
  return { askedModel: null, model: null, charge: null, surplus: 0, pictures: NO_PICTURES, content: null };
}

/** Begins to record prompt and reply if the organization's settings log prompts. */
export function noteContent({ principal, facts }: RequestContext, prompt: string): void {
  const { promptLogDays } = principal.organization.settings;
  if (promptLogDays !== null) facts.content = new RequestContent(prompt, promptLogDays);
}
