import type { RequestEvent } from "../domain/request-event.ts";
import {
  ATTEMPT_ROUTE,
  DURATION_BUCKETS,
  durationBucket,
  isFailed,
  isModelCall,
  type TrafficCount,
} from "../domain/traffic.ts";
import { NestedMap } from "../lib/nested-map.ts";

const MINUTE_MS = 60_000;
/** Maximum number of counts that wait for the database. At the limit, `#openUnnamed` opens new counts. */
const MAX_COUNTS = 20_000;
const ANSWERED = "answered";

type Count = Pick<TrafficCount, "requests" | "charged" | "durations">;

/**
 * Counts requests and calls to vendors by minute, until the database writer takes the counts. Counting takes about a
 * microsecond on the thread of the requests.
 */
export class TrafficCounters {
  readonly #minutes = new Map<number, NestedMap<Count>>();
  #size = 0;

  readonly listener = (event: RequestEvent): void => {
    if (!isModelCall(event)) return;
    const { attempts, status, code, route } = event;
    const organization = event.organizationId ?? "";
    const key = event.keyId ?? "";
    const model = event.model ?? "";
    const end = event.at + event.durationMs;
    const minute = end - (end % MINUTE_MS);
    const channel = event.channel ?? attempts.at(-1)?.channel ?? "";
    const responseClass = CLASSES[Math.floor(status / 100)] ?? "0";
    const names = [organization, key, model, channel, route, responseClass, code ?? ""];
    const count = this.#add(minute, names, event.durationMs);
    if (event.ledgerId !== null && isFailed(event)) count.charged += 1;
    for (const attempt of attempts) {
      const outcome = attempt.outcome === ANSWERED ? "" : attempt.outcome;
      const statusClass = CLASSES[Math.floor((attempt.status ?? 0) / 100)] ?? "0";
      const call = [organization, key, model, attempt.channel, ATTEMPT_ROUTE, statusClass, outcome];
      this.#add(minute, call, attempt.durationMs);
    }
  };

  /** Removes and returns the collected counts. */
  take(): TrafficCount[] {
    const counts = [...this.#minutes].flatMap(([at, counted]) =>
      Array.from(counted.entries(), ([names, count]): TrafficCount => {
        const [
          organizationId = "",
          keyId = "",
          model = "",
          channel = "",
          route = "",
          status = "",
          code = "",
        ] = names;
        return { at, organizationId, keyId, model, channel, route, status, code, ...count };
      }),
    );
    this.#minutes.clear();
    this.#size = 0;
    return counts;
  }

  /** Adds back counts that the database did not accept. */
  giveBack(counts: readonly TrafficCount[]): void {
    for (const { at, organizationId, keyId, model, channel, route, status, code, ...count } of counts) {
      const known = this.#open(at, [organizationId, keyId, model, channel, route, status, code]);
      known.requests += count.requests;
      known.charged += count.charged;
      for (const [index, number] of count.durations.entries())
        known.durations[index] = (known.durations[index] ?? 0) + number;
    }
  }

  #add(minute: number, names: readonly string[], durationMs: number): Count {
    const count = this.#open(minute, names);
    const bucket = durationBucket(durationMs);
    count.requests += 1;
    count.durations[bucket] = (count.durations[bucket] ?? 0) + 1;
    return count;
  }

  #open(minute: number, names: readonly string[]): Count {
    let counted = this.#minutes.get(minute);
    if (!counted) this.#minutes.set(minute, (counted = new NestedMap()));
    const known = counted.get(names);
    if (known) return known;
    if (this.#size >= MAX_COUNTS) return this.#openUnnamed(counted, names);
    return this.#openNew(counted, names);
  }

  #openNew(counted: NestedMap<Count>, names: readonly string[]): Count {
    const count = { requests: 0, charged: 0, durations: Array.from({ length: DURATION_BUCKETS }, () => 0) };
    counted.set(names, count);
    this.#size += 1;
    return count;
  }

  /** Opens a count by only route, status and code, because only these names have closed sets of values. */
  #openUnnamed(counted: NestedMap<Count>, names: readonly string[]): Count {
    const unnamed = ["", "", "", "", ...names.slice(4)];
    return counted.get(unnamed) ?? this.#openNew(counted, unnamed);
  }
}

const CLASSES = ["0", "1", "2", "3", "4", "5"];
