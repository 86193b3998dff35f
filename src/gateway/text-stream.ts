import type { TextDialect, TextStream } from "../dialects/dialect.ts";
import type { Timeouts } from "../domain/channel.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { LedgerFlag } from "../domain/ledger.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { AdmittedText } from "./admission/admitted.ts";
import type { Core } from "./core.ts";
import { asGatewayError } from "./failure.ts";
import type { ByteReader, ByteStream } from "../lib/byte-stream.ts";
import { type BodyWriter, relay, type Relay, type StreamEnd } from "./relay.ts";
import type { UsageEstimator } from "./metering/usage-policy.ts";
import { ClientDisconnected, type Call } from "./routing/call.ts";
import type { Committed } from "./routing/failover.ts";
import { asStreamError } from "./stream-error.ts";

/** A vendor's stream whose first content has arrived, or that has ended without content. */
export interface OpenedStream {
  reader: ByteReader;
  stream: TextStream;
  /** Bytes up to the first content. */
  head: Uint8Array;
}

/** A stream that is being sent to the client. */
export interface RelayedStream {
  writer: BodyWriter;
  /** Names of the caller's fields that were not sent to the target. */
  ignored: readonly string[];
  /**
   * Resolves when the stream is settled, before its last bytes are sent. The value is the error that ended the stream,
   * or null.
   */
  ended: Promise<GatewayError | ClientDisconnected | null>;
}

/** Reads a vendor's stream up to its first content. Throws an `UpstreamError` when it is cut before any content. */
export async function openStream(
  source: ByteStream,
  stream: TextStream,
  call: Call,
  { idleMs }: Timeouts,
): Promise<OpenedStream> {
  const reader = source.getReader();
  const pieces: Uint8Array[] = [];
  try {
    while (!stream.hasContent && !stream.isDone) {
      const { done, value } = await reader.read();
      if (done || !value) break;
      const output = stream.push(value);
      if (output.length > 0) pieces.push(output);
      call.expect("more of the stream", idleMs);
    }
    if (!stream.hasContent && stream.lack === "cut")
      throw new UpstreamError("broken", "a stream without content");
  } catch (error) {
    throw asStreamError(error);
  }
  call.stopExpecting();
  return { reader, stream, head: pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces) };
}

/** Returns a whole reply as an opened stream. */
export function openWhole(stream: TextStream, call: Call): OpenedStream {
  const head = stream.push(new Uint8Array(0));
  call.stopExpecting();
  return { reader: { read: async () => ({ done: true }) }, stream, head };
}

interface StreamToRelay {
  /** The admitted request, which the stream owns from now on. */
  admitted: AdmittedText;
  committed: Committed<OpenedStream>;
  /** The caller's dialect. */
  dialect: TextDialect;
  timeouts: Timeouts;
  estimator: UsageEstimator;
  ignored: readonly string[];
}

/** The data for settling a running stream, and nothing else. */
interface RunningStream extends Pick<Committed<unknown>, "target" | "release"> {
  admitted: AdmittedText;
  stream: TextStream;
  estimator: UsageEstimator;
}

/** Relays the stream to the client. Settles it exactly once, before its last bytes are sent. */
export function relayStream(
  core: Core,
  { admitted, committed, dialect, timeouts, estimator, ignored }: StreamToRelay,
): RelayedStream {
  const { reply, target, call, release } = committed;
  const running = { admitted, target, stream: reply.stream, release, estimator };
  const { principal, signal, isOutcomeKept } = admitted.context;
  const isDetachable = principal.organization.settings.callerGone === "drain";
  const { promise: ended, resolve } = Promise.withResolvers<GatewayError | ClientDisconnected | null>();
  const writer = relay({
    reader: reply.reader,
    head: reply.head,
    stream: reply.stream,
    keepAliveFrame: dialect.keepAliveFrame,
    call,
    clientSignal: signal,
    deadlineTimer: core.failover.deadlineTimer,
    idleMs: timeouts.idleMs,
    isDetachable,
    isKept: isDetachable && isOutcomeKept,
    ...settlementCallbacks(running, resolve),
  });
  return { writer, ended, ignored };
}

/**
 * Returns the callbacks that settle the stream. They are made outside of `relayStream`, so that its local variables do
 * not stay in memory while the stream runs.
 */
function settlementCallbacks(
  running: RunningStream,
  resolve: (ending: GatewayError | ClientDisconnected | null) => void,
): Pick<Relay, "refine" | "checkpoint" | "end" | "settling"> {
  const { admitted, target, stream, estimator } = running;
  const usage = () => stream.usage();
  return {
    refine: () => estimator.refine(usage),
    checkpoint: () => admitted.checkpoint({ target, usage: usage(), flags: ["partial"] }),
    end: (how) => {
      const refining = how.isClientDisconnected ? estimator.refine(usage) : null;
      if (refining) {
        void refining.then(() => resolve(settle(running, how) ?? disconnected(how)));
        return null;
      }
      const failure = settle(running, how);
      resolve(failure ?? (how.isClientDisconnected ? disconnected(how) : null));
      return failure && stream.errorFrame(failure);
    },
    settling: () => admitted.context.grant.correcting,
  };
}

function disconnected({ kind }: StreamEnd): ClientDisconnected {
  return new ClientDisconnected(kind === "complete");
}

/** Charges what was delivered. Returns an error to send to the client in place of the normal ending, or null. */
function settle({ admitted, target, stream, release }: RunningStream, how: StreamEnd): GatewayError | null {
  const flags: LedgerFlag[] = how.kind === "complete" ? [] : ["partial"];
  if (how.isClientDisconnected) flags.push("caller_gone");
  release();
  admitted.context.facts.content?.keepReply(stream.text);
  try {
    admitted.settle({ target, usage: stream.usage(), flags });
    return how.kind === "cut" && !how.isClientDisconnected ? asGatewayError(how.error) : null;
  } catch (error) {
    return asGatewayError(error);
  } finally {
    admitted.release();
  }
}
