import type { TextPayload } from "../dialects/dialect.ts";
import { forward, translate } from "../dialects/passage.ts";
import { promptText } from "../dialects/prompt-text.ts";
import { textDialect } from "../dialects/text.ts";
import type { Target, Timeouts } from "../domain/channel.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { yieldAfter } from "../lib/waiting.ts";
import type { AdmittedText } from "./admission/admitted.ts";
import type { Core } from "./core.ts";
import { withReadableLinks } from "./inline-pictures.ts";
import { UsageEstimator } from "./metering/usage-estimator.ts";
import { NOTHING_DELIVERED, usageBounds } from "./metering/usage-policy.ts";
import type { Call } from "./routing/call.ts";
import { openStream, openWhole, type OpenedStream } from "./text-stream.ts";
import { NO_TRAITS, requireCounts, textUpstreamFor } from "./text-upstreams.ts";

/** What a target replied: a whole text with its usage, or a stream up to its first content. */
export type TargetReply =
  | { kind: "whole"; text: string; usage: TokenUsage }
  | ({ kind: "stream"; estimator: UsageEstimator } & OpenedStream);

interface RequestToCall {
  payload: TextPayload;
  /** The maximum that the vendor is told in place of the caller, if any. */
  coveredTokens: number | null;
  admitted: AdmittedText;
}

/** One target's call as it will be sent. */
export type PreparedCall = Awaited<ReturnType<typeof prepareCall>>;

/** Makes the vendor's request of the caller's. Throws an `UpstreamError` where this target cannot take it. */
export async function prepareCall(
  core: Core,
  { payload: requested, coveredTokens, admitted }: RequestToCall,
  target: Target,
  call: Call,
) {
  const { model, price, context } = admitted;
  const upstream = textUpstreamFor(core.upstreams, target, requested.dialect);
  const organization = context.principal.organization.id;
  const fetching = { safeFetch: core.safeFetch, organization, call };
  const readable = withReadableLinks(requested, { target, upstream }, fetching);
  const payload = readable instanceof Promise ? await readable : readable;
  const { isStream, maxTokens } = payload.parsed;
  const traits = upstream.traits ?? NO_TRAITS;
  const largest = maxTokens ?? coveredTokens ?? model.maxOutputTokens;
  const bounds = usageBounds(payload.parsed, largest, model.reasoning !== undefined);
  const { reportsCost = false } = traits;
  const prompt = () => promptText(payload.parsed);
  const estimator = new UsageEstimator({ ...bounds, reportsCost }, prompt, core.tokenCounter.count);
  const { policy } = estimator;
  const terms = { upstreamModel: target.upstreamModel, traits, coveredTokens, model };
  const caller = textDialect(payload.dialect);
  const vendor = textDialect(upstream.dialect);
  requireCounts(vendor, price, payload.parsed.features);
  const isForwarded = caller === vendor;
  const passage = isForwarded
    ? forward(caller, payload, terms, policy)
    : translate({ caller, vendor }, payload, terms, policy);
  const stream = isStream ? passage.openStream() : null;
  call.cancellation.throwIfAborted();
  return {
    target,
    upstream,
    passage,
    stream,
    estimator,
    headers: isForwarded ? payload.headers : NO_HEADERS,
    timeouts: timeoutsOf(core, target),
    /** What the call costs if its client disconnects now. */
    usage: (): TokenUsage => stream?.usage() ?? policy(NOTHING_DELIVERED),
  };
}

/** Sends a prepared call and reads its reply up to the first content, or to its end where it is whole. */
export async function sendCall(
  { target, upstream, passage, stream, estimator, headers, timeouts }: PreparedCall,
  call: Call,
): Promise<TargetReply> {
  const isStream = stream !== null;
  // A whole answer has no first byte worth waiting for: only the total time bounds it.
  if (isStream) call.expect("the first byte", timeouts.firstByteMs);
  const { raw } = passage;
  const { upstreamModel } = target;
  const response = await upstream.send({ raw, upstreamModel, isStream, headers, signal: call.cancellation });
  call.vendorRequestId = response.requestId;
  if (!stream) {
    if (response.kind === "stream") throw new UpstreamError("broken", "a stream for a request without one");
    await yieldAfter(response.text);
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

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** The pipeline's timeouts, with those that the channel sets of its own. */
export function timeoutsOf(core: Core, { channel }: Target): Timeouts {
  return channel.timeouts ? { ...core.timeouts.text, ...channel.timeouts } : core.timeouts.text;
}
