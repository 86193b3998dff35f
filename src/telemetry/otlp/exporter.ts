import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { RequestEvent } from "../../domain/request-event.ts";
import { isModelCall } from "../../domain/traffic.ts";
import { type BackgroundWork, every, withDeadline } from "../../lib/waiting.ts";
import type { SystemLog } from "../log.ts";
import type { MetricFamily } from "../metrics.ts";
import { type Measurement, measurementOf } from "./record.ts";

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

/** What the thread says of a batch: how many spans the collector did not take, and why. */
export interface ExportWord {
  failed: number;
  problem: string | null;
}

interface ExporterOptions extends ExportSetup {
  isContentExported: boolean;
  /** Returns the adapter of a channel. */
  providerOf(channel: string): string | undefined;
  onProblem: SystemLog;
}

const SEND_MS = 1_000;
/** Records that wait for the thread; further ones are dropped. */
const MAX_WAITING = 4_000;
const BATCH = 1_000;
const END_MS = 2_000;

/**
 * Gives records of requests to a thread that exports them. The thread has one batch at a time, so a collector that is
 * away or slow costs no more than the records that wait; what is beyond is dropped and counted.
 */
export class OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #thread: Worker;
  readonly #work: BackgroundWork;
  #waiting: Measurement[] = [];
  #isSending = false;
  #dropped = 0;
  #isAway = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const { endpoint, headers, serviceName, instance, version } = options;
    const setup: ExportSetup = { endpoint, headers, serviceName, instance, version };
    this.#thread = new Worker(new URL("./export-thread.ts", import.meta.url), { workerData: setup });
    this.#thread.unref();
    this.#thread.on("message", (word: ExportWord) => this.#onSent(word));
    this.#thread.on("error", (error) =>
      options.onProblem("the thread that exports telemetry has ended", error),
    );
    this.#work = every(
      SEND_MS,
      () => this.#send(),
      () => {},
    );
  }

  readonly listener = (event: RequestEvent): void => {
    if (!isModelCall(event)) return;
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(measurementOf(event, this.#options));
    else this.#dropped += 1;
  };

  families(): MetricFamily[] {
    return [
      {
        name: "gateway_telemetry_dropped_total",
        type: "counter",
        help: "Records of requests, or spans, that the collector of OpenTelemetry did not get.",
        samples: [["", "", this.#dropped]],
      },
    ];
  }

  /** Sends what waits, as far as that takes no longer than two seconds, and ends the thread. */
  async stop(): Promise<void> {
    await this.#work.stop();
    const ended = once(this.#thread, "exit");
    this.#thread.postMessage(this.#waiting.splice(0, BATCH));
    this.#thread.postMessage(null);
    await withDeadline(END_MS, ended, () => new Error("the thread goes on")).catch(() =>
      this.#thread.terminate(),
    );
  }

  #send(): void {
    if (this.#isSending || this.#waiting.length === 0) return;
    this.#isSending = true;
    this.#thread.postMessage(this.#waiting.splice(0, BATCH));
  }

  #onSent({ failed, problem }: ExportWord): void {
    this.#isSending = false;
    this.#dropped += failed;
    const { onProblem } = this.#options;
    if (problem !== null && !this.#isAway)
      onProblem("the collector of telemetry is away: spans are dropped", problem);
    if (problem === null && this.#isAway) onProblem("the collector of telemetry is back", null, "info");
    this.#isAway = problem !== null;
  }
}
