import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { RequestEvent } from "../../domain/request-event.ts";
import { isModelCall } from "../../domain/traffic.ts";
import { threadScript } from "../../lib/program-files.ts";
import { type BackgroundWork, every, withDeadline } from "../../lib/waiting.ts";
import type { SystemLog } from "../log.ts";
import { counter, type MetricFamily } from "../metrics.ts";
import { type ExportedMetric, GenAiMetrics } from "./gen-ai-metrics.ts";
import { measurementOf, type SpanRecord, spanRecordOf } from "./record.ts";

/** Settings of the thread. */
export interface ExportSetup {
  /** Base address of the collector, without a trailing slash. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** Id of this process. */
  instance: string;
  version: string;
}

/** The thread's report about a batch: the number of spans that were not exported, and the reason. */
export interface ExportWord {
  failed: number;
  problem: string | null;
}

interface ExporterOptions extends ExportSetup {
  isContentExported: boolean;
  /** Returns the name of the provider (the vendor's adapter) of a channel. */
  providerOf(channel: string): string | undefined;
  onProblem: SystemLog;
}

/**
 * A message to the thread: a batch of `SpanRecord`s of sampled requests as JSON, the sums of all requests, or the order
 * to end. Sending a text takes the sender a fraction of the time of cloning an object.
 */
export type ExportOrder =
  { kind: "requests"; requests: string } | { kind: "metrics"; metrics: ExportedMetric[] } | { kind: "end" };

/** Interval between batches. Even a small message to the collector costs milliseconds of processor time. */
const SEND_MS = 5_000;
const METRICS_MS = 60_000;
/** Maximum number of records that wait for the thread. */
const MAX_WAITING = 4_000;
const BATCH = 1_000;
/** Maximum number of characters of prompts and replies in the waiting records. */
const MAX_CONTENT = 16_000_000;
/** A batch with so many characters of prompts and replies takes a few milliseconds to write as JSON. */
const BATCH_CONTENT = 1_000_000;
const END_MS = 2_000;

/**
 * Passes records of requests to a thread that exports them. Until `stop`, the thread has only one batch at a time. A
 * slow or unavailable collector thus costs only the memory of the waiting records. New records above `MAX_WAITING` or
 * `MAX_CONTENT` are dropped and counted.
 */
export class OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #thread: Worker;
  readonly #work: readonly BackgroundWork[];
  readonly #metrics = new GenAiMetrics();
  /** Records of sampled requests. They are written as JSON together, which costs less than one by one. */
  readonly #waiting: SpanRecord[] = [];
  /** Number of characters of prompts and replies in `#waiting`. */
  #content = 0;
  #isSending = false;
  #dropped = 0;
  #isAway = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const { endpoint, headers, serviceName, instance, version } = options;
    const setup: ExportSetup = { endpoint, headers, serviceName, instance, version };
    this.#thread = new Worker(threadScript("src/telemetry/otlp/export-thread.ts"), { workerData: setup });
    this.#thread.unref();
    this.#thread.on("message", (word: ExportWord) => this.#onSent(word));
    this.#thread.on("error", (error) =>
      options.onProblem("the thread that exports telemetry has ended", error),
    );
    const repeat = (everyMs: number, work: () => void) => every(everyMs, work, () => {});
    this.#work = [repeat(SEND_MS, () => this.#send()), repeat(METRICS_MS, () => this.#sendMetrics())];
  }

  readonly listener = (event: RequestEvent): void => {
    if (!isModelCall(event)) return;
    const measured = measurementOf(event, this.#options);
    this.#metrics.add(measured, event.at);
    if (!event.trace?.isSampled) return;
    const record = this.#waiting.length < MAX_WAITING && spanRecordOf(event, measured, this.#options);
    const content = record ? contentOf(record) : 0;
    if (record && this.#content + content <= MAX_CONTENT) {
      this.#waiting.push(record);
      this.#content += content;
      if (this.#hasBatch()) this.#send();
    } else this.#dropped += 1;
  };

  families(): MetricFamily[] {
    return [counter("gateway_telemetry_dropped_total", this.#dropped)];
  }

  /** Sends the waiting records and ends the thread. Takes at most two seconds. */
  async stop(): Promise<void> {
    await Promise.all(this.#work.map((work) => work.stop()));
    const ended = once(this.#thread, "exit");
    while (this.#waiting.length > 0) this.#order({ kind: "requests", requests: this.#take() });
    this.#sendMetrics();
    this.#order({ kind: "end" });
    await withDeadline(END_MS, ended, () => new Error("the thread goes on")).catch(() =>
      this.#thread.terminate(),
    );
  }

  #send(): void {
    if (this.#isSending || this.#waiting.length === 0) return;
    this.#isSending = true;
    this.#order({ kind: "requests", requests: this.#take() });
  }

  #hasBatch(): boolean {
    return this.#waiting.length >= BATCH || this.#content >= BATCH_CONTENT;
  }

  #take(): string {
    let content = 0;
    const rest = this.#waiting.findIndex((record, index) => {
      if (index === BATCH || content >= BATCH_CONTENT) return true;
      content += contentOf(record);
      return false;
    });
    const taken = this.#waiting.splice(0, rest < 0 ? this.#waiting.length : rest);
    this.#content -= content;
    return JSON.stringify(taken);
  }

  #sendMetrics(): void {
    this.#order({ kind: "metrics", metrics: this.#metrics.exported() });
  }

  #order(order: ExportOrder): void {
    this.#thread.postMessage(order);
  }

  #onSent({ failed, problem }: ExportWord): void {
    this.#isSending = false;
    this.#dropped += failed;
    const { onProblem } = this.#options;
    if (problem !== null && !this.#isAway)
      onProblem("the collector of telemetry is away: spans are dropped", problem);
    if (problem === null && this.#isAway) onProblem("the collector of telemetry is back", null, "info");
    this.#isAway = problem !== null;
    // A batch that became full during the last export is sent immediately.
    if (this.#hasBatch()) this.#send();
  }
}

function contentOf({ content }: SpanRecord): number {
  return content ? content.prompt.length + content.reply.length : 0;
}
