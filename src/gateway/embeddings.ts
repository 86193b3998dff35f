import {
  forVendor,
  inputText,
  readReply,
  writeReply,
  writeVectors,
  type EmbeddingsPayload,
} from "../dialects/embeddings/index.ts";
import type { WholeReply } from "../dialects/dialect.ts";
import type { Target } from "../domain/channel.ts";
import type { EmbeddingModel } from "../domain/model.ts";
import type { TokenPrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { yieldAfter } from "../lib/waiting.ts";
import { holdMoney, type Admitted } from "./admission/admitted.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";
import { requireFeatures, requireModel, routeOf } from "./admission/model-access.ts";
import { callRoute, noteIgnored } from "./call-route.ts";
import type { Core } from "./core.ts";
import { requirePrice } from "./metering/price.ts";
import { textCeiling } from "./metering/text-ceiling.ts";
import { UsageEstimator, NOTHING_DELIVERED, usageBounds } from "./metering/usage-policy.ts";
import type { RequestContext } from "./request-context.ts";
import type { Call } from "./routing/call.ts";
import { orderTargets } from "./routing/target-queue.ts";
import type { EmbeddingUpstream } from "./upstreams.ts";

interface EmbeddingsOutcome {
  text: string;
  limitState: LimitGrant["limitState"];
  /** Fields of the request that were not sent to the vendor. */
  ignored: readonly string[];
}

/**
 * Serves a request for embeddings and bills its input. Throws a `GatewayError`, an `UpstreamError` when no target
 * served the request, and `ClientDisconnected` when the client has disconnected.
 */
export async function handleEmbeddings(
  core: Core,
  context: RequestContext,
  payload: EmbeddingsPayload,
): Promise<EmbeddingsOutcome> {
  using admitted = await admitEmbeddings(core, context, payload);
  const bounds = usageBounds({ ...payload, choices: 1 }, 0, false);
  let sentTo: Target | null = null;
  const input = () => inputText(payload, sentTo ? core.upstreams.embedding(sentTo.channel) : undefined);
  const estimator = new UsageEstimator(bounds, input, core.tokenCounter.count);
  const { reply, target, release } = await callRoute(core, admitted, {
    targets: targetsOf(core, admitted),
    totalMs: core.timeouts.text.totalMs,
    callTarget(target, call) {
      sentTo = target;
      return embed(core, { payload, estimator, context }, target, call);
    },
    settleAbandoned: () => (sentTo ? settleAbandoned(admitted, sentTo, estimator) : undefined),
  });
  release();
  const flags = context.signal.aborted ? (["caller_gone"] as const) : [];
  admitted.settle({ target, usage: reply.usage, flags });
  await yieldAfter(reply.text);
  return { text: reply.text, limitState: admitted.limitState, ignored: reply.ignored };
}

type AdmittedEmbeddings = Admitted<EmbeddingModel, TokenPrice>;

async function admitEmbeddings(
  core: Core,
  context: RequestContext,
  { model: id, inputCeiling, estimatedInput, features }: EmbeddingsPayload,
): Promise<AdmittedEmbeddings> {
  const { principal, facts } = context;
  const directory = core.snapshot.directory();
  facts.askedModel = id;
  const model = requireModel(directory, principal, id, ["embedding"]);
  facts.model = model;
  requireFeatures(model, features);
  const admittedAt = core.clock.now();
  const price = requirePrice(directory, principal, model.id, "token", admittedAt);
  const counting = context.grant.countTokens(estimatedInput, "input");
  if (counting) await counting;
  const ceiling = () => textCeiling(price, inputCeiling, 0);
  return holdMoney(core, context, { model, price, admittedAt, ceiling });
}

function targetsOf(core: Core, { context, model }: AdmittedEmbeddings): readonly Target[] {
  const route = routeOf(core.snapshot.directory(), context.principal, model.id);
  return orderTargets(route, core.random);
}

async function settleAbandoned(
  admitted: AdmittedEmbeddings,
  target: Target,
  estimator: UsageEstimator,
): Promise<void> {
  const usage = () => estimator.policy(NOTHING_DELIVERED);
  await estimator.refine(usage);
  admitted.settle({ target, usage: usage(), flags: ["partial", "caller_gone"] });
}

/** Returns the caller's fields that are not sent to this vendor. */
function untoldFields(
  { foreign }: EmbeddingsPayload,
  { takesPurposes }: Pick<EmbeddingUpstream, "takesPurposes">,
): readonly string[] {
  if (!foreign) return NO_FIELDS;
  const untold = takesPurposes ? [] : new Set(foreign.purposes.flatMap((each) => Object.keys(each)));
  return [...foreign.ignored, ...untold];
}

const NO_FIELDS: readonly string[] = [];

async function embed(
  core: Core,
  request: { payload: EmbeddingsPayload; estimator: UsageEstimator; context: RequestContext },
  { channel, upstreamModel }: Target,
  call: Call,
): Promise<WholeReply & Pick<EmbeddingsOutcome, "ignored">> {
  const upstream = core.upstreams.embedding(channel);
  if (!upstream) throw new UpstreamError("account", `channel ${channel.id} does not embed`);
  const { payload, estimator, context } = request;
  const { texts, dimensions } = payload;
  const raw = forVendor(payload, upstreamModel);
  call.cancellation.throwIfAborted();
  const ignored = untoldFields(payload, upstream);
  noteIgnored(context, call, ignored);
  const purposes = payload.foreign?.purposes;
  const terms = { texts, dimensions, upstreamModel, ...(purposes && { purposes }) };
  const response = await upstream.embed({ raw, ...terms, signal: call.cancellation });
  call.vendorRequestId = response.requestId;
  const { policy } = estimator;
  if (response.kind === "whole") {
    const { text, usage } = await estimator.refined(() => readReply(response, payload, policy));
    return { text: response.restore(text), usage, ignored };
  }
  const { inputTokens } = response;
  const vectors = await writeVectors(response.vectors, payload);
  const written = await estimator.refined(() => writeReply({ vectors, inputTokens }, payload, policy));
  return { ...written, ignored };
}
