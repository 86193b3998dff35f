import type { TextPayload } from "../dialects/dialect.ts";
import { promptText } from "../dialects/prompt-text.ts";
import { textDialect } from "../dialects/text.ts";
import type { Target } from "../domain/channel.ts";
import type { TextModel } from "../domain/model.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { requireFeatures, requireModel, routeOf } from "./admission/model-access.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";
import { callRoute } from "./call-route.ts";
import type { Core } from "./core.ts";
import { NO_TRAITS, textUpstreams, withReadableLinks } from "./text-upstreams.ts";
import { countText } from "./metering/usage-policy.ts";
import type { TextUpstream } from "./upstreams.ts";
import type { RequestContext } from "./request-context.ts";
import type { Call } from "./routing/call.ts";
import { mayFailOver } from "./routing/failover.ts";
import { orderTargets } from "./routing/target-queue.ts";

/** The tokens of a request and the state of its limits. */
type TokenCount = { limitState: LimitGrant["limitState"] } & (
  | {
      /** The vendor's own response. */
      text: string;
      tokens: null;
    }
  | {
      text: null;
      /** The local estimate, when no target counts tokens. */
      tokens: number;
    }
);

/**
 * Counts the tokens of a request at a vendor that speaks the caller's protocol and offers counting. Returns a local
 * estimate if there is no such vendor, or if the vendor turns out to have no endpoint for counting. Counting is free;
 * only the limit on requests applies. Throws a `GatewayError` or an `UpstreamError`.
 */
export async function countTokens(
  core: Core,
  context: RequestContext,
  payload: TextPayload,
): Promise<TokenCount> {
  const { principal, facts, grant } = context;
  const { model: id, features } = payload.parsed;
  const directory = core.snapshot.directory();
  facts.askedModel = id;
  const model = requireModel(directory, principal, id, ["chat", "messages"]);
  facts.model = model;
  requireFeatures(model, features);
  const route = routeOf(directory, principal, model.id);
  const targets = orderTargets(route, core.random).filter((target) => counterOf(core, target, payload));
  const { organization } = principal;
  const routed = { context, model, signal: context.signal };
  const estimate = async (): Promise<TokenCount> => {
    const counted = await countText(promptText(payload.parsed), core.tokenCounter.count);
    return { text: null, tokens: counted ?? payload.parsed.estimatedInput, limitState: grant.limitState };
  };
  if (targets.length === 0) return estimate();
  const counting = callRoute(core, routed, {
    targets,
    totalMs: core.timeouts.text.firstByteMs,
    failsOver: (error) => mayFailOver(error, false),
    callTarget: (target, call) =>
      count(core, { payload, model, target, call, organization: organization.id }),
  });
  const committed = await counting.catch((error: unknown) => {
    if (countsNothing(error)) return null;
    throw error;
  });
  if (!committed) return estimate();
  committed.release();
  return { text: committed.reply, tokens: null, limitState: grant.limitState };
}

/** True when the vendor's server speaks the protocol but has no endpoint for counting. */
function countsNothing(error: unknown): boolean {
  return error instanceof UpstreamError && error.kind === "broken" && error.status === 404;
}

interface CountCall {
  payload: TextPayload;
  model: TextModel;
  target: Target;
  call: Call;
  /** Id of the organization. */
  organization: string;
}

async function count(
  core: Core,
  { payload: requested, model, target, call, organization }: CountCall,
): Promise<string> {
  const counter = counterOf(core, target, requested);
  if (!counter?.countTokens) throw new Error(`channel ${target.channel.id} does not count tokens`);
  const fetching = { safeFetch: core.safeFetch, organization, call };
  const payload = await withReadableLinks(requested, { target, upstream: counter }, fetching);
  const { upstreamModel } = target;
  const terms = { upstreamModel, traits: counter.traits ?? NO_TRAITS, coveredTokens: null, model };
  const raw = textDialect(payload.dialect).forVendor(payload, terms);
  const { headers } = payload;
  return counter.countTokens({ raw, upstreamModel, isStream: false, headers, signal: call.cancellation });
}

function counterOf(core: Core, target: Target, { dialect }: TextPayload): TextUpstream | undefined {
  const upstreams = textUpstreams(core.upstreams, target);
  return upstreams.find((each) => each.dialect === dialect && each.countTokens);
}
