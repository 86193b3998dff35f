import type { TextPayload, TextRequest } from "../dialects/dialect.ts";
import { forward, translate } from "../dialects/passage.ts";
import { promptText } from "../dialects/prompt-text.ts";
import { textDialect } from "../dialects/text.ts";
import type { Target, Timeouts } from "../domain/channel.ts";
import type { TextModel } from "../domain/model.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { admit, type AdmittedText } from "./admission/admitted.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";
import { requireFeatures, requireModel, routeOf } from "./admission/model-access.ts";
import { withReadableLinks } from "./inline-pictures.ts";
import { openStream, openWhole, relayStream, type OpenedStream, type RelayedStream } from "./text-stream.ts";
import type { Core } from "./core.ts";
import { coveredOutput, textCeiling } from "./metering/estimate.ts";
import { requirePrice, requireUsePrices } from "./metering/price.ts";
import { UsageEstimator } from "./metering/usage-estimator.ts";
import { maxUsesOf, NOTHING_DELIVERED, usageBounds } from "./metering/usage-policy.ts";
import { noteContent, type RequestContext } from "./request-context.ts";
import type { Call } from "./routing/call.ts";
import { callTargets, mayFailOver, type Committed } from "./routing/failover.ts";
import { orderTargets } from "./routing/order-targets.ts";
import { NO_TRAITS, ownProtocolFirst, requireCounts, textUpstreamFor } from "./text-upstreams.ts";

/** What the headers say of an admitted request. */
interface TextTerms {
  rate: LimitGrant["rate"];
  /** The maximum of output tokens that its budgets cover, where that is less than the model's; else null. */
  coveredTokens: number | null;
}

/** What a text request gets, and the state of its limits for the headers. */
export type TextOutcome = TextTerms &
  ({ kind: "whole"; text: string } | ({ kind: "stream" } & RelayedStream));

type TargetReply =
  | { kind: "whole"; text: string; usage: TokenUsage }
  | ({ kind: "stream"; estimator: UsageEstimator } & OpenedStream);

/**
 * Serves a text request. Throws a `GatewayError` or an `UpstreamError` when no target served it, and
 * `ClientDisconnected` when nobody waits for it any more.
 */
export async function handleText(
  core: Core,
  context: RequestContext,
  payload: TextPayload,
): Promise<TextOutcome> {
  const admitting = admitText(core, context, payload);
  using admitted = admitting instanceof Promise ? await admitting : admitting;
  noteContent(context, payload.raw);
  const coveredTokens = coveredTokensOf(admitted, payload.parsed);
  const committed = await callRoute(core, admitted, payload, coveredTokens);
  const { reply, target } = committed;
  if (reply.kind === "stream") {
    const timeouts = timeoutsOf(core, target);
    const dialect = textDialect(payload.dialect);
    const relayed = relayStream(core, {
      admitted: admitted.transfer(),
      committed: { ...committed, reply },
      estimator: reply.estimator,
      dialect,
      timeouts,
    });
    return { kind: "stream", ...relayed, rate: admitted.rate, coveredTokens };
  }
  committed.release();
  context.facts.content?.add(reply.text);
  admitted.settle({ target, usage: reply.usage, flags: context.signal.aborted ? ["caller_gone"] : [] });
  return { kind: "whole", text: reply.text, rate: admitted.rate, coveredTokens };
}

/** Everything that is decided before a vendor is called: model access, price, limits and the money held. */
function admitText(
  core: Core,
  context: RequestContext,
  payload: TextPayload,
): AdmittedText | Promise<AdmittedText> {
  const { principal, facts } = context;
  const { model: id, maxTokens, choices, inputCeiling, estimatedInput, features } = payload.parsed;
  const directory = core.snapshot.directory();
  const model = requireModel(directory, principal, id, ["chat", "messages"]);
  facts.model = model;
  requireFeatures(model, features);
  const admittedAt = core.clock.now();
  const price = requirePrice(directory, principal, model.id, "token", admittedAt);
  requireUsePrices(price, features);
  const uses = maxUsesOf(features);
  const likely = estimatedInput + (maxTokens ?? model.defaultOutputTokens) * choices;
  const maxOutput = (maxTokens ?? model.maxOutputTokens) * choices;
  const ceiling = () => textCeiling(price, inputCeiling, maxOutput, uses);
  const least = () => textCeiling(price, inputCeiling, leastTokens(model) * choices, uses);
  const floor = maxTokens === null ? least : ceiling;
  const counting = context.grant.countTokens(likely, maxTokensParam(payload));
  const admitCounted = () => admit(core, context, { model, price, admittedAt, ceiling, floor });
  return counting ? counting.then(admitCounted) : admitCounted();
}

/** The caller's field for the maximum of output tokens. */
function maxTokensParam({ dialect, parsed: { body } }: TextPayload): string {
  if (dialect === "native") return "generationConfig.maxOutputTokens";
  if (dialect === "responses") return "max_output_tokens";
  return dialect === "chat" && "max_completion_tokens" in body ? "max_completion_tokens" : "max_tokens";
}

/** The shortest answer worth calling a vendor for, where the caller sets no maximum and budgets are short. */
const MIN_COVERED_TOKENS = 256;

function leastTokens({ maxOutputTokens }: TextModel): number {
  return Math.min(MIN_COVERED_TOKENS, maxOutputTokens);
}

function coveredTokensOf(
  { hold, model, price }: AdmittedText,
  { maxTokens, choices, inputCeiling, features }: TextRequest,
): number | null {
  if (maxTokens !== null || hold.leases.length === 0) return null;
  const uses = maxUsesOf(features);
  if (hold.amount >= textCeiling(price, inputCeiling, model.maxOutputTokens * choices, uses)) return null;
  const covered = Math.floor(coveredOutput(price, inputCeiling, hold.amount, uses) / choices);
  return Math.max(covered, leastTokens(model));
}

/** A call that a vendor may have received: what it costs if its client disconnects now. */
interface SentCall {
  target: Target;
  estimator: UsageEstimator;
  usage(): TokenUsage;
}

/** Calls the route's targets. A client that disconnects meanwhile pays for the call that was sent for it. */
async function callRoute(
  core: Core,
  admitted: AdmittedText,
  payload: TextPayload,
  coveredTokens: number | null,
): Promise<Committed<TargetReply>> {
  const { context, signal } = admitted;
  const { organization } = context.principal;
  const { failOverRefusals } = organization.settings;
  const running: { sent: SentCall | null } = { sent: null };
  try {
    return await callTargets(core.failover, {
      model: admitted.model.id,
      targets: targetsOf(core, admitted, payload),
      organization: organization.id,
      clientSignal: signal,
      totalMs: core.timeouts.text.totalMs,
      failsOver: (error) => mayFailOver(error, failOverRefusals),
      attempts: context.attempts,
      callTarget: (target, call) => {
        running.sent = null;
        const onSent = (sent: Omit<SentCall, "target">) => (running.sent = { target, ...sent });
        return callTarget(core, { payload, coveredTokens, admitted, onSent }, target, call);
      },
    });
  } catch (error) {
    const { sent } = running;
    const isByClient = core.detachedCalls.isEndedByClient(context.attempts);
    if (sent && isByClient) {
      await sent.estimator.refine(sent.usage);
      admitted.settle({ target: sent.target, usage: sent.usage(), flags: ["partial", "caller_gone"] });
    }
    throw error;
  }
}

interface TargetCall {
  payload: TextPayload;
  /** The maximum that the vendor is told in place of the caller, if any. */
  coveredTokens: number | null;
  admitted: AdmittedText;
  onSent(sent: Omit<SentCall, "target">): void;
}

async function callTarget(
  core: Core,
  { payload: requested, coveredTokens, admitted, onSent }: TargetCall,
  target: Target,
  call: Call,
): Promise<TargetReply> {
  const { model, price, context } = admitted;
  const upstream = textUpstreamFor(core.upstreams, target, requested.dialect);
  const organization = context.principal.organization.id;
  const fetching = { safeFetch: core.safeFetch, organization, call };
  const readable = withReadableLinks(requested, { target, upstream }, fetching);
  const payload = readable instanceof Promise ? await readable : readable;
  const { isStream, maxTokens } = payload.parsed;
  const { reportsCost = false } = upstream.traits ?? NO_TRAITS;
  const largest = maxTokens ?? coveredTokens ?? model.maxOutputTokens;
  const bounds = { ...usageBounds(payload.parsed, largest, model.reasoning !== undefined), reportsCost };
  const { count } = core.tokenCounter;
  const estimator = new UsageEstimator(bounds, () => promptText(payload.parsed), count);
  const { policy } = estimator;
  const { upstreamModel } = target;
  const terms = { upstreamModel, traits: upstream.traits ?? NO_TRAITS, coveredTokens, model };
  const caller = textDialect(payload.dialect);
  const vendor = textDialect(upstream.dialect);
  requireCounts(vendor, price, payload.parsed.features);
  const isForwarded = caller === vendor;
  const passage = isForwarded
    ? forward(caller, payload, terms, policy)
    : translate({ caller, vendor }, payload, terms, policy);
  const stream = isStream ? passage.openStream() : null;
  const timeouts = timeoutsOf(core, target);
  call.cancellation.throwIfAborted();
  // Nothing tells when the last byte has left, so a call counts as sent from here on.
  onSent({ estimator, usage: () => stream?.usage() ?? policy(NOTHING_DELIVERED) });
  // A whole answer has no first byte worth waiting for: only the total time bounds it.
  if (isStream) call.expect("the first byte", timeouts.firstByteMs);
  const headers = isForwarded ? payload.headers : NO_HEADERS;
  const { raw } = passage;
  const response = await upstream.send({ raw, upstreamModel, isStream, headers, signal: call.cancellation });
  call.vendorRequestId = response.requestId;
  if (!stream) {
    if (response.kind === "stream") throw new UpstreamError("broken", "a stream for a request without one");
    const reading = estimator.refined(() => passage.readReply(response));
    const { text, usage } = reading instanceof Promise ? await reading : reading;
    return { kind: "whole", text, usage };
  }
  const opened =
    response.kind === "stream"
      ? await openStream(response.stream, stream, call, timeouts)
      : openWhole(passage.replayReply(response), call);
  estimator.readPrompt();
  return { kind: "stream", estimator, ...opened };
}

/** The route's targets, those first whose vendors speak the caller's own protocol. */
function targetsOf(
  core: Core,
  { context, model }: AdmittedText,
  { dialect }: TextPayload,
): readonly Target[] {
  const route = routeOf(core.snapshot.directory(), context.principal, model.id);
  return ownProtocolFirst(core.upstreams, orderTargets(route, core.random), dialect);
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

function timeoutsOf(core: Core, { channel }: Target): Timeouts {
  return channel.timeouts ? { ...core.timeouts.text, ...channel.timeouts } : core.timeouts.text;
}
