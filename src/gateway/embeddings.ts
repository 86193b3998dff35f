import {
  forVendor,
  inputText,
  readReply,
  writeReply,
  type EmbeddingsPayload,
} from "../dialects/embeddings/index.ts";
import type { WholeReply } from "../dialects/dialect.ts";
import type { Target } from "../domain/channel.ts";
import type { EmbeddingModel } from "../domain/model.ts";
import type { TokenPrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { admit, type Admitted } from "./admission/admitted.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";
import { requireFeatures, requireModel, routeOf } from "./admission/model-access.ts";
import type { Core } from "./core.ts";
import { textCeiling } from "./metering/estimate.ts";
import { requirePrice } from "./metering/price.ts";
import { UsageEstimator } from "./metering/usage-estimator.ts";
import { NOTHING_DELIVERED, usageBounds } from "./metering/usage-policy.ts";
import type { RequestContext } from "./request-context.ts";
import type { Call } from "./routing/call.ts";
import { callTargets, mayFailOver, type Committed } from "./routing/failover.ts";
import { orderTargets } from "./routing/order-targets.ts";

/** What a request for embeddings gets. */
interface EmbeddingsOutcome {
  text: string;
  rate: LimitGrant["rate"];
}

/**
 * Serves a request for embeddings, billed by its input. Throws a `GatewayError` or an `UpstreamError` when no target
 * served it, and `ClientDisconnected` when nobody waits for it any more.
 */
export async function handleEmbeddings(
  core: Core,
  context: RequestContext,
  payload: EmbeddingsPayload,
): Promise<EmbeddingsOutcome> {
  using admitted = await admitEmbeddings(core, context, payload);
  const bounds = usageBounds({ ...payload, choices: 1 }, 0, false);
  const estimator = new UsageEstimator(bounds, () => inputText(payload), core.tokenCounter.count);
  const { reply, target, release } = await callRoute(core, admitted, payload, estimator);
  release();
  const flags = context.signal.aborted ? (["caller_gone"] as const) : [];
  admitted.settle({ target, usage: reply.usage, flags });
  return { text: reply.text, rate: admitted.rate };
}

type AdmittedEmbeddings = Admitted<EmbeddingModel, TokenPrice>;

async function admitEmbeddings(
  core: Core,
  context: RequestContext,
  { model: id, inputCeiling, estimatedInput, features }: EmbeddingsPayload,
): Promise<AdmittedEmbeddings> {
  const { principal, facts } = context;
  const directory = core.snapshot.directory();
  const model = requireModel(directory, principal, id, ["embedding"]);
  facts.model = model;
  requireFeatures(model, features);
  const admittedAt = core.clock.now();
  const price = requirePrice(directory, principal, model.id, "token", admittedAt);
  const counting = context.grant.countTokens(estimatedInput, "input");
  if (counting) await counting;
  const ceiling = () => textCeiling(price, inputCeiling, 0);
  return admit(core, context, { model, price, admittedAt, ceiling });
}

/** Calls the route's targets. A client that disconnects meanwhile pays for the call that was sent for it. */
async function callRoute(
  core: Core,
  admitted: AdmittedEmbeddings,
  payload: EmbeddingsPayload,
  estimator: UsageEstimator,
): Promise<Committed<WholeReply>> {
  const { context, model, signal } = admitted;
  const route = routeOf(core.snapshot.directory(), context.principal, model.id);
  const { failOverRefusals } = context.principal.organization.settings;
  let sentTo: Target | null = null;
  try {
    return await callTargets(core.failover, {
      model: model.id,
      targets: orderTargets(route, core.random),
      organization: context.principal.organization.id,
      clientSignal: signal,
      totalMs: core.timeouts.text.totalMs,
      failsOver: (error) => mayFailOver(error, failOverRefusals),
      attempts: context.attempts,
      callTarget: (target, call) => {
        sentTo = target;
        return embed(core, { payload, estimator }, target, call);
      },
    });
  } catch (error) {
    const isByClient = core.detachedCalls.isEndedByClient(context.attempts);
    if (sentTo && isByClient) {
      const usage = () => estimator.policy(NOTHING_DELIVERED);
      await estimator.refine(usage);
      admitted.settle({ target: sentTo, usage: usage(), flags: ["partial", "caller_gone"] });
    }
    throw error;
  }
}

async function embed(
  core: Core,
  { payload, estimator }: { payload: EmbeddingsPayload; estimator: UsageEstimator },
  { channel, upstreamModel }: Target,
  call: Call,
): Promise<WholeReply> {
  const upstream = core.upstreams.embedding(channel);
  if (!upstream) throw new UpstreamError("account", `channel ${channel.id} does not embed`);
  const { texts, dimensions } = payload;
  const raw = forVendor(payload, upstreamModel);
  call.cancellation.throwIfAborted();
  const response = await upstream.embed({ raw, texts, dimensions, upstreamModel, signal: call.cancellation });
  call.vendorRequestId = response.requestId;
  const { policy } = estimator;
  return estimator.refined(() =>
    response.kind === "whole" ? readReply(response, payload, policy) : writeReply(response, payload, policy),
  );
}
