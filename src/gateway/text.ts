import {
  ChatStream,
  errorFrame,
  forUpstream,
  readReply,
  writeError,
  type ChatPayload,
} from "../dialects/chat/index.ts";
import { estimateTokens } from "../dialects/chat/usage.ts";
import type { Timeouts, Target } from "../domain/channel.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { LedgerEntry, LedgerFlag } from "../domain/ledger.ts";
import type { TextModel } from "../domain/model.ts";
import type { TokenPrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { takeTextLimits, type LimitGrant } from "./admission/limits.ts";
import { requireModel, routeOf } from "./admission/model-access.ts";
import type { Core } from "./core.ts";
import { chargeEntry } from "./metering/entry.ts";
import { textCeiling } from "./metering/estimate.ts";
import type { Hold } from "./metering/budget-leases.ts";
import { requirePrice } from "./metering/price.ts";
import { asUnreadable, relay, type ByteReader, type StreamEnd } from "./relay.ts";
import type { Call } from "./routing/call.ts";
import { callerError } from "./routing/caller-error.ts";
import { callTargets, type Committed as CommittedReply } from "./routing/failover.ts";
import { orderTargets } from "./routing/order-targets.ts";
import type { RequestContext } from "./request-context.ts";

/** The answer to a text request, and the rate state for its headers. */
export type TextOutcome = { rate: LimitGrant["rate"] } & (
  { kind: "whole"; text: string } | { kind: "stream"; stream: ReadableStream<Uint8Array> }
);

/** Everything decided about a request before a vendor is asked. Only `admit` makes one. */
interface Admission {
  visit: RequestContext;
  payload: ChatPayload;
  model: TextModel;
  price: TokenPrice;
  grant: LimitGrant;
  hold: Hold;
  /** The signal vendor calls obey, and what ends its guard. */
  guard: { signal: AbortSignal; finished(): void };
}

type Committed =
  | { kind: "whole"; text: string; usage: TokenUsage }
  | { kind: "stream"; reader: ByteReader; stream: ChatStream; head: Uint8Array };

/** Answers a chat request. Throws a `GatewayError`, or `CallerGone` when nobody waits any more. */
export async function handleChat(
  core: Core,
  visit: RequestContext,
  payload: ChatPayload,
): Promise<TextOutcome> {
  const admission = await admit(core, visit, payload);
  try {
    const answered = await ask(core, admission);
    if (answered.reply.kind === "stream") return startStream(core, admission, answered, answered.reply);
    const { text, usage } = answered.reply;
    answered.release();
    settle(core, admission, answered.target, usage, []);
    finish(admission, usage);
    return { kind: "whole", text, rate: admission.grant.rate };
  } catch (error) {
    core.billing.release(admission.hold);
    finish(admission, null);
    throw error instanceof UpstreamError ? callerError(error) : error;
  }
}

async function admit(core: Core, visit: RequestContext, payload: ChatPayload): Promise<Admission> {
  const { principal, event } = visit;
  const { parsed } = payload;
  const directory = core.snapshot.directory();
  const model = requireModel(directory, principal, parsed.model, ["chat", "messages"]);
  event.model = model.id;
  event.isStream = parsed.isStream;
  const price = requirePrice(directory, principal, model.id, "token", core.clock.now());
  const output = (parsed.maxTokens ?? model.defaultOutputTokens) * parsed.choices;
  const taken = takeTextLimits(
    core.limiter,
    core.limits,
    principal,
    estimateTokens(parsed.inputCeiling) + output,
  );
  const grant = taken instanceof Promise ? await taken : taken;
  try {
    const max = (parsed.maxTokens ?? model.maxOutputTokens) * parsed.choices;
    const held = core.billing.hold(principal, () => textCeiling(price, parsed.inputCeiling, max));
    const hold = held instanceof Promise ? await held : held;
    const guard = core.detachedCalls.guard(principal.organization.settings.callerGone, visit.signal);
    return { visit, payload, model, price, grant, hold, guard };
  } catch (error) {
    grant.correctTokens(0);
    grant.release();
    throw error;
  }
}

function ask(core: Core, { visit, payload, model, guard }: Admission): Promise<CommittedReply<Committed>> {
  const route = routeOf(core.snapshot.directory(), visit.principal, model.id);
  const { failOverRefusals } = visit.principal.organization.settings;
  return callTargets(core.failover, {
    targets: orderTargets(route, core.random),
    clientSignal: guard.signal,
    totalMs: core.timeouts.text.totalMs,
    failsOver: ({ kind }) => kind !== "rejected" && (kind !== "refused" || failOverRefusals),
    attempts: visit.event.attempts,
    callTarget: (target, call) => askTarget(core, payload, target, call),
  });
}

async function askTarget(core: Core, payload: ChatPayload, target: Target, call: Call): Promise<Committed> {
  const upstream = core.upstreams.text(target.channel);
  if (!upstream) throw new UpstreamError("account", `channel ${target.channel.id} does not serve text`);
  call.expect("the first byte", timeoutsOf(core, target).firstByteMs);
  const { isStream, model, inputCeiling } = payload.parsed;
  const raw = forUpstream(payload, target.upstreamModel);
  const answer = await upstream.send({ payload: { ...payload, raw }, isStream, signal: call.signal });
  if (answer.kind === "whole") {
    call.settle();
    if (isStream) throw new UpstreamError("broken", "a whole answer to a stream request");
    return { kind: "whole", ...readReply(answer, model, inputCeiling) };
  }
  const reader = answer.stream.getReader();
  const stream = new ChatStream(model, inputCeiling);
  const head = await untilContent(reader, stream).catch(asUnreadable);
  call.settle();
  return { kind: "stream", reader, stream, head };
}

/** Holds the beginning of a stream back until there is content: so long another target can still take over. */
async function untilContent(reader: ByteReader, stream: ChatStream): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  while (!stream.hasContent && !stream.isDone) {
    const { done, value } = await reader.read();
    if (done || !value) throw new UpstreamError("broken", "a stream without content");
    pieces.push(stream.push(value));
  }
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
}

function startStream(
  core: Core,
  admission: Admission,
  { target, call, release }: CommittedReply<Committed>,
  { reader, stream, head }: Extract<Committed, { kind: "stream" }>,
): TextOutcome {
  const { visit, grant } = admission;
  visit.event.firstByteMs = core.clock.monotonic() - visit.event.startedAt;
  const body = relay({
    reader,
    stream,
    head,
    call,
    deadlineTimer: core.failover.deadlineTimer,
    idleMs: timeoutsOf(core, target).idleMs,
    isDraining: visit.principal.organization.settings.callerGone === "drain",
    checkpoint: () => core.billing.checkpoint(entryOf(core, admission, target, stream.usage(), ["partial"])),
    end: (how) => {
      release();
      return endStream(core, admission, target, stream, how);
    },
  });
  return { kind: "stream", stream: body, rate: grant.rate };
}

/** Settles a stream however it ended; gives the error event the caller should see, if any. */
function endStream(
  core: Core,
  admission: Admission,
  target: Target,
  stream: ChatStream,
  how: StreamEnd,
): Uint8Array | null {
  const { event, ended } = admission.visit;
  const flags: LedgerFlag[] = how.kind === "complete" ? [] : ["partial"];
  if (how.isClientDisconnected) flags.push("caller_gone");
  const usage = stream.usage();
  let failure = how.kind === "cut" && !how.isClientDisconnected ? shown(how.error) : null;
  try {
    settle(core, admission, target, usage, flags);
  } catch (error) {
    core.billing.release(admission.hold);
    failure = shown(error);
  }
  finish(admission, usage);
  event.code = failure?.code ?? (how.isClientDisconnected ? "caller_gone" : null);
  event.cause = failure?.cause;
  ended();
  return failure && errorFrame(writeError(failure));
}

function shown(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof UpstreamError) return callerError(error);
  return new GatewayError("internal_error", "The gateway failed. Retry later.", { cause: error });
}

/** Writes the charge. Throws when it cannot be recorded; the caller must then not be told it succeeded. */
function settle(
  core: Core,
  admission: Admission,
  target: Target,
  usage: TokenUsage,
  flags: readonly LedgerFlag[],
): void {
  const entry = entryOf(core, admission, target, usage, flags);
  core.billing.settle(admission.hold, entry);
  const { event } = admission.visit;
  event.usage = usage;
  event.amount = entry.amount;
  event.channel = entry.channel;
}

function entryOf(
  core: Core,
  { visit, model, price, hold }: Admission,
  target: Target,
  usage: TokenUsage,
  flags: readonly LedgerFlag[],
): LedgerEntry {
  return chargeEntry({ visit, model: model.id, price, hold, target, usage, flags, at: core.clock.now() });
}

function finish({ grant, guard }: Admission, usage: TokenUsage | null): void {
  let total = 0;
  for (const count of Object.values(usage?.tokens ?? {})) total += count;
  grant.correctTokens(total);
  grant.release();
  guard.finished();
}

function timeoutsOf(core: Core, { channel }: Target): Timeouts {
  return channel.timeouts ? { ...core.timeouts.text, ...channel.timeouts } : core.timeouts.text;
}
