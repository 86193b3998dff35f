import type { TextPayload } from "../dialects/dialect.ts";
import { reasoningControl } from "../dialects/conversation/hints.ts";
import { forward, textDialect, translate } from "../dialects/text.ts";
import { promptText } from "../dialects/prompt-text.ts";
import type { Target, Timeouts } from "../domain/channel.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { yieldAfter } from "../lib/waiting.ts";
import type { AdmittedText } from "./admission/admitted.ts";
import { noteIgnored } from "./call-route.ts";
import type { Core } from "./core.ts";
import type { TextUpstream } from "./upstreams.ts";
import { NO_TRAITS, requireCounts, textUpstreamFor, withReadableLinks } from "./text-upstreams.ts";
import { UsageEstimator, NOTHING_DELIVERED, usageBounds } from "./metering/usage-policy.ts";
import type { Call } from "./routing/call.ts";
import { openStream, openWhole, type OpenedStream } from "./text-stream.ts";

/** A target's reply: a whole text with its usage, or a stream read up to its first content. */
export type TargetReply = {
  /** Names of the caller's fields that were not sent to the target. */
  ignored: readonly string[];
} & (
  | { kind: "whole"; text: string; usage: TokenUsage; isEmpty: boolean }
  | ({ kind: "stream"; estimator: UsageEstimator } & OpenedStream)
);

interface RequestToCall {
  payload: TextPayload;
  /** The maximum of output tokens to send, if a maximum is needed and the caller set none; otherwise null. */
  coveredTokens: number | null;
  admitted: AdmittedText;
}

/** A call to one target, ready to be sent. */
export type PreparedCall = ReturnType<typeof prepareReadable>;

/**
 * Builds the vendor's request. Throws an `UpstreamError` when the target cannot take the caller's request. Returns a
 * promise only when pictures must be fetched.
 */
export function prepareCall(
  core: Core,
  request: RequestToCall,
  target: Target,
  call: Call,
): PreparedCall | Promise<PreparedCall> {
  const { payload, admitted } = request;
  const upstream = textUpstreamFor(core.upstreams, target, payload.dialect);
  const organization = admitted.context.principal.organization.id;
  const fetching = { safeFetch: core.safeFetch, organization, call };
  const readable = withReadableLinks(payload, { target, upstream }, fetching);
  const prepare = (readablePayload: TextPayload): PreparedCall =>
    prepareReadable(core, request, { payload: readablePayload, target, upstream }, call);
  return readable instanceof Promise ? readable.then(prepare) : prepare(readable);
}

function prepareReadable(
  core: Core,
  { coveredTokens, admitted }: RequestToCall,
  { payload, target, upstream }: { payload: TextPayload; target: Target; upstream: TextUpstream },
  call: Call,
) {
  const { model, price, context } = admitted;
  const { isStream, maxTokens } = payload.parsed;
  const traits = upstream.traits ?? NO_TRAITS;
  const largest = maxTokens ?? coveredTokens ?? model.maxOutputTokens;
  const isForwarded = payload.dialect === upstream.dialect;
  const reasoning = isForwarded ? model.reasoning : reasoningControl(target, upstream, model.reasoning);
  const doesReason = reasoning !== undefined || model.reasoning !== undefined;
  const bounds = usageBounds(payload.parsed, largest, doesReason);
  if (traits.reportsCost) bounds.reportsCost = true;
  const prompt = () => promptText(payload.parsed);
  const estimator = new UsageEstimator(bounds, prompt, core.tokenCounter.count);
  const { policy } = estimator;
  const reasoningModel = reasoning === model.reasoning ? model : { ...model, reasoning };
  const terms = { upstreamModel: target.upstreamModel, traits, coveredTokens, model: reasoningModel };
  const caller = textDialect(payload.dialect);
  const vendor = textDialect(upstream.dialect);
  requireCounts(vendor, price, payload.parsed.features);
  const passage = isForwarded
    ? forward(caller, payload, terms, policy)
    : translate({ caller, vendor }, payload, terms, policy);
  noteIgnored(context, call, passage.ignored);
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
    /** Returns the usage to charge if the client disconnects now. */
    usage: (): TokenUsage => stream?.usage() ?? policy(NOTHING_DELIVERED),
  };
}

/** Sends a prepared call and reads its reply. A stream is read up to its first content, a whole reply to its end. */
export async function sendCall(
  { target, upstream, passage, stream, estimator, headers, timeouts }: PreparedCall,
  call: Call,
): Promise<TargetReply> {
  const isStream = stream !== null;
  // Only the total time of a whole reply is bounded, because its first byte says nothing about progress.
  if (isStream) call.expect("the first byte", timeouts.firstByteMs);
  const { raw, ignored } = passage;
  const { upstreamModel } = target;
  const response = await upstream.send({ raw, upstreamModel, isStream, headers, signal: call.cancellation });
  call.vendorRequestId = response.requestId;
  try {
    if (!stream) {
      if (response.kind === "stream") throw new UpstreamError("broken", "a stream that was not requested");
      const yielding = yieldAfter(response.text);
      if (yielding) await yielding;
      const reading = estimator.refined(() => passage.readReply(response));
      const { text, usage, isEmpty } = reading instanceof Promise ? await reading : reading;
      return { kind: "whole", ignored, text, usage, isEmpty };
    }
    const opened =
      response.kind === "stream"
        ? await openStream(response.stream, stream, call, timeouts)
        : openWhole(passage.replayReply(response), call);
    estimator.readPrompt();
    return { kind: "stream", estimator, ignored, ...opened };
  } catch (error) {
    // The vendor charges even for a reply that cannot be used.
    if (error instanceof UpstreamError && error.kind === "broken") error.isAmbiguous = true;
    throw error;
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Returns the timeouts of the pipeline. A timeout that the channel sets replaces the pipeline's timeout. */
export function timeoutsOf(core: Core, { channel }: Target): Timeouts {
  return channel.timeouts ? { ...core.timeouts.text, ...channel.timeouts } : core.timeouts.text;
}
