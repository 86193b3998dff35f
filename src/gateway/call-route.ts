import { untranslatable } from "../dialects/conversation/untranslatable.ts";
import type { Target } from "../domain/channel.ts";
import type { Model } from "../domain/model.ts";
import type { UpstreamError } from "../domain/upstream-error.ts";
import type { Core } from "./core.ts";
import type { RequestContext } from "./request-context.ts";
import type { Call } from "./routing/call.ts";
import { callTargets, mayFailOver, type Committed } from "./routing/failover.ts";

interface RoutedRequest {
  context: RequestContext;
  model: Model;
  /** The signal that ends the call: the client's own signal, or a signal that may outlive the client. */
  signal: AbortSignal;
}

interface RouteCall<Reply, Recovered> {
  /** Targets in calling order. */
  targets: readonly Target[];
  /** The target to call next after a timeout; null or absent for none. */
  afterTimeout?: Target | null | undefined;
  /** The model's context in tokens; absent when it is unknown or does not matter. */
  contextWindow?: number | undefined;
  totalMs: number;
  /** Decides if another target is called after a failure; by default `mayFailOver`, with the organization's setting. */
  failsOver?(error: UpstreamError): boolean;
  callTarget(target: Target, call: Call, canMoveOn: () => boolean): Promise<Reply>;
  /**
   * Settles the call that was running when the client disconnected. Text is charged by its tokens; for images only the
   * orphan cost is recorded. May return an error to throw in place of `ClientDisconnected`.
   */
  settleAbandoned?(): Promise<void> | Error | undefined;
  /** Called with the error when no target replied. Returns a result in its place, or throws. */
  recover?(error: unknown): Recovered;
}

/** Records on the call the fields that are not sent to its target. If the caller is strict, throws for the first. */
export function noteIgnored({ isStrict }: RequestContext, call: Call, names: readonly string[]): void {
  const [first] = names;
  if (first !== undefined && isStrict) throw untranslatable(first);
  call.ignoredParams = names;
}

/** Calls the route's targets. If the client disconnects after a call was sent, settles that call. */
export async function callRoute<Reply, Recovered = never>(
  core: Core,
  { context, model, signal }: RoutedRequest,
  request: RouteCall<Reply, Recovered>,
): Promise<Committed<Reply> | Recovered> {
  const { id, settings } = context.principal.organization;
  const { attempts, trace } = context;
  try {
    return await callTargets(core.failover, {
      targets: request.targets,
      afterTimeout: request.afterTimeout,
      contextWindow: request.contextWindow,
      totalMs: request.totalMs,
      callTarget: request.callTarget,
      model: model.id,
      organization: id,
      clientSignal: signal,
      failsOver: request.failsOver ?? ((error) => mayFailOver(error, settings.failOverRefusals)),
      attempts,
      trace,
    });
  } catch (error) {
    const replacing = core.detachedCalls.isEndedByClient(attempts)
      ? await request.settleAbandoned?.()
      : undefined;
    const failure = replacing ?? error;
    if (!request.recover) throw failure;
    return request.recover(failure);
  }
}
