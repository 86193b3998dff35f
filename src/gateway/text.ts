import type { TextPayload, TextRequest } from "../dialects/dialect.ts";
import { mayBeEmpty, NOTHING_BILLED } from "../dialects/conversation/empty-reply.ts";
import { textDialect, writeEmptyReply } from "../dialects/text.ts";
import type { Target } from "../domain/channel.ts";
import type { TextModel } from "../domain/model.ts";
import type { LedgerFlag } from "../domain/ledger.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { yieldAfter } from "../lib/waiting.ts";
import { holdMoney, type AdmittedText } from "./admission/admitted.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";
import { requireFeatures, requireModel, routeOf } from "./admission/model-access.ts";
import { beginStream } from "./begun-stream.ts";
import { callRoute } from "./call-route.ts";
import type { Core } from "./core.ts";
import { requirePrice, requireUsePrices } from "./metering/price.ts";
import { coveredOutput, textCeiling } from "./metering/text-ceiling.ts";
import { maxUsesOf } from "./metering/usage-policy.ts";
import { bodyOf, type BodyWriter, type Client } from "./relay.ts";
import { noteContent, type RequestContext } from "./request-context.ts";
import type { Committed } from "./routing/failover.ts";
import { orderTargets, targetsThatFit } from "./routing/target-queue.ts";
import { prepareCall, sendCall, timeoutsOf, type PreparedCall, type TargetReply } from "./text-call.ts";
import { relayStream, type RelayedStream } from "./text-stream.ts";

/** The values that response headers report about an admitted request. */
interface TextTerms {
  limitState: LimitGrant["limitState"];
  /**
   * Output tokens that the budgets cover for each choice; null if the caller set a maximum or the model's is covered.
   */
  coveredTokens: number | null;
  /**
   * Names of the caller's fields that were not sent to the target. If a stream's response began before a target
   * replied, the names belong to the target that was being called at that time.
   */
  ignored: readonly string[];
}

/** The result of a text request, with the state of its limits for the headers. */
export type TextOutcome = TextTerms &
  (
    | { kind: "whole"; text: string }
    | ({ kind: "stream"; body: ReadableStream<Uint8Array> } & Pick<RelayedStream, "ended">)
  );

/**
 * Serves a text request. Throws a `GatewayError`, an `UpstreamError` when no target served the request, and
 * `ClientDisconnected` when the client has disconnected.
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
  const yielding = yieldAfter(payload.raw);
  if (yielding) await yielding;
  const terms = { limitState: admitted.limitState, coveredTokens };
  if (payload.parsed.isStream) {
    const { writer, ...stream } = await serveStream(core, admitted.transfer(), payload, coveredTokens);
    return { kind: "stream", body: bodyOf(writer), ...stream, ...terms };
  }
  const committed = await callVendors(core, admitted, payload, coveredTokens);
  if (!("reply" in committed))
    return { kind: "whole", text: writeEmptyReply(payload), ...committed, ...terms };
  const { reply, target, release } = committed;
  if (reply.kind === "stream") throw new Error("a stream was not requested");
  release();
  const { text, ignored } = reply;
  context.facts.content?.keepReply(text);
  admitted.settle({ target, usage: reply.usage, flags: context.signal.aborted ? ["caller_gone"] : [] });
  await yieldAfter(text);
  return { kind: "whole", text, ignored, limitState: admitted.limitState, coveredTokens };
}

/**
 * Serves a stream, which owns `admitted` from now on. Resolves at the first content, or earlier when the response must
 * begin. Even then another target can be called until the first content.
 */
async function serveStream(
  core: Core,
  admitted: AdmittedText,
  payload: TextPayload,
  coveredTokens: number | null,
): Promise<RelayedStream> {
  const { deadlineTimer } = core.failover;
  let ignored: readonly string[] = [];
  const opening = openRelay(core, admitted, payload, coveredTokens, (names) => (ignored = names));
  const { promise: silence, resolve } = Promise.withResolvers<null>();
  const deadline = deadlineTimer.set(core.firstByteMs, () => resolve(null));
  try {
    const opened = await Promise.race([opening, silence]);
    if (opened) return opened;
  } finally {
    deadlineTimer.clear(deadline);
  }
  const dialect = textDialect(payload.dialect);
  return beginStream({
    opening,
    // These are the names for the target that is being called now. Another target may reply in the end.
    ignored,
    deadlineTimer,
    intervalMs: core.firstByteMs,
    keepAliveFrame: dialect.keepAliveFrame,
    errorFrame: (error) => Buffer.from(dialect.replyWriter(payload).fail(error)),
  });
}

/** Calls vendors until a vendor has sent the first content of its stream. */
async function openRelay(
  core: Core,
  admitted: AdmittedText,
  payload: TextPayload,
  coveredTokens: number | null,
  noteIgnored: (names: readonly string[]) => void,
): Promise<RelayedStream> {
  try {
    const committed = await callVendors(core, admitted, payload, coveredTokens, noteIgnored);
    if (!("reply" in committed)) {
      admitted.release();
      return { writer: new WholeBody(writeEmptyReply(payload)), ended: Promise.resolve(null), ...committed };
    }
    const { reply, target } = committed;
    if (reply.kind === "whole") throw new Error("a stream was requested");
    return relayStream(core, {
      admitted,
      committed: { ...committed, reply },
      estimator: reply.estimator,
      dialect: textDialect(payload.dialect),
      timeouts: timeoutsOf(core, target),
      ignored: reply.ignored,
    });
  } catch (error) {
    admitted.release();
    throw error;
  }
}

/** Admits a text request: checks model access, features and price, counts tokens in the limits, and holds money. */
function admitText(
  core: Core,
  context: RequestContext,
  payload: TextPayload,
): AdmittedText | Promise<AdmittedText> {
  const { principal, facts } = context;
  const { model: id, maxTokens, choices, inputCeiling, estimatedInput, features } = payload.parsed;
  const directory = core.snapshot.directory();
  facts.askedModel = id;
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
  const admitCounted = () => holdMoney(core, context, { model, price, admittedAt, ceiling, floor });
  return counting ? counting.then(admitCounted) : admitCounted();
}

/** Returns the name of the caller's field for the maximum of output tokens. */
function maxTokensParam({ dialect, parsed: { body } }: TextPayload): string {
  if (dialect === "native") return "generationConfig.maxOutputTokens";
  if (dialect === "responses") return "max_output_tokens";
  return dialect === "chat" && "max_completion_tokens" in body ? "max_completion_tokens" : "max_tokens";
}

/** Minimum of output tokens for calling a vendor when budgets are nearly spent and the caller set no maximum. */
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

/**
 * Calls the route's targets. Calls `noteIgnored` for each called target with the fields that were not sent to it. A
 * reply without content counts as a failed call, unless the request may have caused it. If all calls fail and at least
 * one reply was empty, the request is settled with a charge of zero. If the last failure was an empty reply, its
 * ignored fields are returned; otherwise the last error is thrown. A call during which the client disconnects is
 * charged.
 */
function callVendors(
  core: Core,
  admitted: AdmittedText,
  payload: TextPayload,
  coveredTokens: number | null,
  noteIgnored: (names: readonly string[]) => void = () => {},
): Promise<Committed<TargetReply> | { ignored: readonly string[] }> {
  const request = { payload, coveredTokens, admitted };
  const { model, context } = admitted;
  const { principal } = context;
  let sent: PreparedCall | null = null;
  let empty: { target: Target; ignored: readonly string[]; usage: TokenUsage } | null = null;
  return callRoute(core, admitted, {
    targets: targetsThatFit(
      orderTargets(routeOf(core.snapshot.directory(), principal, model.id), core.random),
      payload.parsed.estimatedInput,
      model.contextWindow,
    ),
    contextWindow: model.contextWindow,
    totalMs: core.timeouts.text.totalMs,
    async callTarget(target, call) {
      sent = null;
      const preparing = prepareCall(core, request, target, call);
      const prepared = preparing instanceof Promise ? await preparing : preparing;
      // The call counts as sent from now on, because the gateway cannot observe when the last byte has been sent.
      sent = prepared;
      noteIgnored(prepared.passage.ignored);
      const reply = await sendCall(prepared, call);
      if (!isEmpty(reply) || mayBeEmpty(payload.parsed)) return reply;
      const usage = reply.kind === "stream" ? reply.stream.usage() : reply.usage;
      empty = { target, ignored: reply.ignored, usage };
      admitted.abandon(usage);
      throw new UpstreamError("empty", "a reply without content");
    },
    settleAbandoned: () => (sent ? settleAbandoned(admitted, sent) : undefined),
    recover(error) {
      if (!empty) throw error;
      const { target, ignored, usage } = empty;
      // The orphan cost contains the price of each empty reply. For each ambiguous attempt, it also contains the price
      // of the last empty reply once more.
      if (!admitted.isSettled) {
        const flags: LedgerFlag[] = context.signal.aborted ? ["caller_gone"] : [];
        admitted.settle({ target, usage: NOTHING_BILLED, requested: usage, flags });
      }
      if (!(error instanceof UpstreamError) || error.kind !== "empty") throw error;
      return { ignored };
    },
  });
}

function isEmpty(reply: TargetReply): boolean {
  return reply.kind === "whole" ? reply.isEmpty : !reply.stream.hasContent && reply.stream.lack === "empty";
}

class WholeBody implements BodyWriter {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  async run(client: Client): Promise<void> {
    client.write(Buffer.from(this.#text));
    client.close();
  }

  cancel(): void {}
}

async function settleAbandoned(
  admitted: AdmittedText,
  { target, estimator, usage }: PreparedCall,
): Promise<void> {
  await estimator.refine(usage);
  admitted.settle({ target, usage: usage(), flags: ["partial", "caller_gone"] });
}
