import type { Fault } from "../fault.ts";

const FAILOVER = "src/gateway/routing/failover.ts";
const HEALTH = "src/gateway/routing/health.ts";
const BUDGET = "src/gateway/routing/call-bounds.ts";
const QUEUE = "src/gateway/routing/target-queue.ts";
const SEMAPHORE = "src/lib/semaphore.ts";
const CONCURRENCY = "src/gateway/routing/call-bounds.ts";

const failover = ["src/gateway/routing/failover.test.ts", "src/gateway/routing/concurrency-limiter.test.ts"];
const health = ["src/gateway/routing/health.test.ts"];
const stream = ["src/gateway/text-stream.test.ts"];
const textFailover = ["src/gateway/text-failover.test.ts"];

/** Faults in the choice of targets, the number of calls, and the effect of calls on health. */
export const ROUTING_FAULTS: readonly Fault[] = [
  {
    name: "a channel's slot stays taken after a failed call",
    file: "src/gateway/routing/failover.ts",
    find: "  } catch (thrown) {\n    release();",
    replace: "  } catch (thrown) {",
    tests: ["src/gateway/routing/failover.test.ts"],
  },
  {
    name: "a stream that begins without content and fails keeps what it holds",
    file: "src/gateway/text.ts",
    find: "  } catch (error) {\n    admitted.release();",
    replace: "  } catch (error) {",
    tests: stream,
  },
  {
    name: "a stream does not begin before its first content",
    file: "src/gateway/text.ts",
    find: "const deadline = deadlineTimer.set(core.firstByteMs, () => resolve(null));",
    replace: "const deadline = deadlineTimer.set(2 ** 40, () => resolve(null));",
    tests: stream,
  },
  {
    name: "an input that is too long counts against the target's health",
    file: "src/domain/upstream-error.ts",
    find: `  "empty",\n  "too_long",\n  "too_large",\n  "rejected",\n]);`,
    replace: `  "rejected",\n]);`,
    tests: textFailover,
  },
  {
    name: "an input that is too long goes on to a target with the same context",
    file: FAILOVER,
    find: `if (error.kind === "too_long") queue.dropNoLarger(target, request.contextWindow);`,
    replace: "",
    tests: textFailover,
  },
  {
    name: "all targets share one retry budget",
    file: BUDGET,
    find: "#current(target: string, now: number): Counts {",
    replace: `#current(_target: string, now: number): Counts {\n    const target = "";`,
    tests: failover,
  },
  {
    name: "the first call to a target takes from the retry budget",
    file: FAILOVER,
    find: "if (earlierCalls === 0) retryBudget.countCall(targetName(target), startedAt);",
    replace: `if (earlierCalls === 0) {
      retryBudget.countCall(targetName(target), startedAt);
      if (!retryBudget.takeRetry(targetName(target))) continue;
    }`,
    tests: failover,
  },
  {
    name: "repeated calls have no budget",
    file: FAILOVER,
    find: "if (!retryBudget.takeRetry(targetName(target))) continue;",
    replace: "retryBudget.takeRetry(targetName(target));",
    tests: failover,
  },
  {
    name: "a retry share never leaves its window",
    file: BUDGET,
    find: "if (found && now - found.startedAt < WINDOW_MS / 2) return found;",
    replace: "if (found) return found;",
    tests: ["src/gateway/routing/retry-budget.test.ts"],
  },
  {
    name: "calls of long ago allow retries",
    file: BUDGET,
    find: "found !== undefined && now - found.startedAt < WINDOW_MS;",
    replace: "found !== undefined;",
    tests: ["src/gateway/routing/retry-budget.test.ts"],
  },
  {
    name: "a retry budget counts no repeated calls",
    file: BUDGET,
    find: "    counts.retries++;",
    replace: "",
    tests: failover,
  },
  {
    name: "a failed call keeps the slot of its channel",
    file: FAILOVER,
    find: "    release();\n    const error = call.reasonOf(thrown);",
    replace: "    call.finish();\n    const error = call.reasonOf(thrown);",
    tests: failover,
  },
  {
    name: "a call that was answered keeps the slot of its channel",
    file: FAILOVER,
    find: "    calls.delete(call);\n    slot[Symbol.dispose]();",
    replace: "    calls.delete(call);\n    if (attempts.length > 1e9) slot[Symbol.dispose]();",
    tests: failover,
  },
  {
    name: "a channel takes more calls than its maximum",
    file: CONCURRENCY,
    find: "return slots ? slots.tryAcquire(organization) : UNLIMITED;",
    replace: "return slots && false ? slots : UNLIMITED;",
    tests: failover,
  },
  {
    name: "a slot that is released twice admits one call more",
    file: SEMAPHORE,
    find: "        if (!isHeld) return;\n",
    replace: "",
    tests: ["src/lib/semaphore.test.ts"],
  },
  {
    name: "a rejected text request goes to the next target",
    file: FAILOVER,
    find: `isUnsent || (kind !== "rejected" && (kind !== "refused" || failOverRefusals));`,
    replace: `isUnsent || kind !== "refused" || failOverRefusals;`,
    tests: textFailover,
  },
  {
    name: "an ambiguous attempt is not marked",
    file: FAILOVER,
    find: "if (error?.isAmbiguous) attempt.isAmbiguous = true;",
    replace: "",
    tests: failover,
  },
  {
    name: "the attempt of a client that disconnected is not recorded",
    file: FAILOVER,
    find: `if (error instanceof ClientDisconnected) record("caller_gone");`,
    replace: "if (error instanceof ClientDisconnected) void record;",
    tests: failover,
  },
  {
    name: "a client that disconnected starts another call",
    file: FAILOVER,
    find: `    if (error instanceof ClientDisconnected) record("caller_gone");
    else if (call.cancellation.aborted) record("stopped");
    throw error;`,
    replace: `    record("caller_gone");
    return { error: new UpstreamError("unreachable", "disconnected") };`,
    tests: failover,
  },
  {
    name: "a request calls targets without end",
    file: QUEUE,
    find: "if (callsLeft <= 0) return undefined;",
    replace: "if (callsLeft <= -20) return undefined;",
    tests: failover,
  },
  {
    name: "failing targets hide a healthy one",
    file: QUEUE,
    find: "const sound = callsLeft === 1 && this.#called.length > 0 ?",
    replace: "const sound = callsLeft < 0 ?",
    tests: failover,
  },
  {
    name: "a failed call begins another after the total time",
    file: FAILOVER,
    find: " || clock.monotonic() - startedAt >= request.totalMs) break;",
    replace: ") break;",
    tests: failover,
  },
  {
    name: "an unsent request hides the earlier error",
    file: FAILOVER,
    find: "if (!error.isUnsent || !last) last = error;",
    replace: "last = error;",
    tests: failover,
  },
  {
    name: "a refused account ejects no target",
    file: HEALTH,
    find: `if (error.kind === "account") return this.#eject(health, null, "account", ACCOUNT_EJECTION_MS);`,
    replace: "",
    tests: health,
  },
  {
    name: "a refused account ejects for one organization only",
    file: HEALTH,
    find: `return this.#eject(health, null, "account", ACCOUNT_EJECTION_MS);`,
    replace: `return this.#eject(health, organization, "account", ACCOUNT_EJECTION_MS);`,
    tests: health,
  },
  {
    name: "failures of one organization eject for everyone",
    file: HEALTH,
    find: "const ORGANIZATIONS_TO_EJECT = 2;",
    replace: "const ORGANIZATIONS_TO_EJECT = 1;",
    tests: health,
  },
  {
    name: "a request's own fault counts against its target",
    file: HEALTH,
    find: "if (KINDS_BY_REQUEST.has(error.kind) || error.isByRequest) return",
    replace: `if (error.kind === "refused") return`,
    tests: [...health, ...failover],
  },
  {
    name: "every request probes an ejected target",
    file: HEALTH,
    find: "for (const state of states) if (state.ejectedUntil > 0) state.probeSince = now;",
    replace: "void now;",
    tests: [...health, ...failover],
  },
  {
    name: "a call that was abandoned blocks further probes",
    file: HEALTH,
    find: "for (const state of this.#statesOf(target, organization)) state.probeSince = 0;",
    replace: "",
    tests: [...health, ...failover],
  },
  {
    name: "a vendor's retry-after is ignored",
    file: HEALTH,
    find: `if (error.kind === "limited" && retryAfterMs > 0)`,
    replace: "if (retryAfterMs < 0)",
    tests: health,
  },
  {
    name: "one organization's limit at a vendor is everybody's",
    file: HEALTH,
    find: "isLimitedForOther ? null : organization",
    replace: "isLimitedForOther ? null : null",
    tests: health,
  },
  {
    name: "calls under way lengthen an ejection",
    file: HEALTH,
    find: "failures >= FAILURES_TO_EJECT && this.#clock.monotonic() >= ejectedUntil",
    replace: "failures >= FAILURES_TO_EJECT",
    tests: health,
  },
  {
    name: "a target that recovered stays ejected for an organization",
    file: HEALTH,
    find: "    health.own.delete(organization);",
    replace: "",
    tests: health,
  },
  {
    name: "a repeated call is sent for a status that stays",
    file: FAILOVER,
    find: "isByRequest && (status === undefined || status < 400) && earlierCalls === 0",
    replace: "isByRequest && (status === undefined || status < 500) && earlierCalls === 0",
    tests: failover,
  },
  {
    name: "a passed deadline is not ambiguous",
    file: "src/gateway/routing/call.ts",
    find: "ms`, { isAmbiguous: true });",
    replace: "ms`);",
    tests: failover,
  },
];
