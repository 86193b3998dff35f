import { statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import { GatewayError } from "../../domain/gateway-error.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";
import { declaredLength } from "./body.ts";

/** 0: all requests are served. 1: large bodies are refused. 2: only probes are served. */
type OverloadStep = 0 | 1 | 2;

/** The value of a signal at which each of the two steps begins. */
interface Thresholds {
  largeBodies: number;
  requests: number;
}

interface OverloadSettings {
  /** Maximum bytes of a body in the first step. Larger bodies and bodies of unknown length are refused. */
  largeBodyBytes: number;
  /** Thresholds of resident memory. If null, they come from the memory of machine or container, shared by workers. */
  memoryBytes: { largeBodies: number | null; requests: number | null };
  /** Thresholds of the free space on the data folder's disk. */
  freeDiskBytes: Thresholds;
  lagMs: Thresholds;
}

interface OverloadOptions {
  settings: OverloadSettings;
  workers: number;
  dataDirectory: string;
  onChange(message: string, level: "info" | "warn"): void;
}

/** One measurement. `lagMs` is the smallest of the last lags, so that a single long task does not count as overload. */
export interface OverloadSample {
  memoryBytes: number;
  freeDiskBytes: number;
  lagMs: number;
}

const SAMPLE_MS = 200;
const LAG_SAMPLES = 3;
/** A step ends after `CALM_SAMPLES` samples in a row with all signals better than their thresholds by this share. */
const MARGIN = 0.1;
const CALM_SAMPLES = 5;
const RETRY_SECONDS = 2;
/**
 * Optional data, such as kept outcomes, must leave this multiple of the first step's threshold free on the disk. The
 * data itself thus never starts the first step.
 */
const KEPT_SHARE = 1.25;
const MIB = 1024 * 1024;
const SHARES: Thresholds = { largeBodies: 0.8, requests: 0.9 };

/**
 * Samples memory, disk and event loop. Refuses requests in two steps before memory, disk or event loop is overloaded.
 * Serving a request only reads `step`.
 */
export class Overload {
  step: OverloadStep = 0;
  readonly sample: OverloadSample = { memoryBytes: 0, freeDiskBytes: Infinity, lagMs: 0 };
  readonly #options: OverloadOptions;
  readonly #memoryBytes: Thresholds;
  readonly #lags = Array.from({ length: LAG_SAMPLES }, () => 0);
  #sampledAt = performance.now();
  #calmSamples = 0;
  #isReadingDisk = false;

  constructor(options: OverloadOptions) {
    this.#options = options;
    const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity) / options.workers;
    const { largeBodies, requests } = options.settings.memoryBytes;
    this.#memoryBytes = {
      largeBodies: largeBodies ?? memory * SHARES.largeBodies,
      requests: requests ?? memory * SHARES.requests,
    };
  }

  /**
   * Reads the free space of the disk. The first time, this is done before any request is served. Later samples do not
   * wait for it, because a disk that does not respond must not hide the other signals.
   */
  async readDisk(): Promise<void> {
    this.#isReadingDisk = true;
    try {
      const { bavail, bsize } = await statfs(this.#options.dataDirectory);
      this.sample.freeDiskBytes = bavail * bsize;
    } finally {
      this.#isReadingDisk = false;
    }
  }

  start(onProblem: (error: unknown) => void): BackgroundWork {
    this.#sampledAt = performance.now();
    return every(SAMPLE_MS, () => this.#measure(onProblem), onProblem);
  }

  /** Throws `overloaded` for a request that the current step does not serve. */
  admit(request: Request): void {
    if (this.step === 0 || (this.step === 1 && !this.#isLarge(request))) return;
    const what = this.step === 1 ? "large requests" : "requests";
    const message = `This server takes no more ${what} just now. Retry shortly.`;
    throw new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_SECONDS });
  }

  /** True when the disk of the data folder has space for this many bytes of optional data. */
  hasSpaceToKeep(bytes: number): boolean {
    return this.sample.freeDiskBytes - bytes >= KEPT_SHARE * this.#options.settings.freeDiskBytes.largeBodies;
  }

  update(sample: OverloadSample): void {
    Object.assign(this.sample, sample);
    const reached = this.#stepOf(0);
    const held = this.#stepOf(MARGIN);
    this.#calmSamples = held < this.step ? this.#calmSamples + 1 : 0;
    if (reached > this.step) this.#change(reached);
    else if (this.#calmSamples >= CALM_SAMPLES) this.#change(held);
  }

  #measure(onProblem: (error: unknown) => void): void {
    const now = performance.now();
    this.#lags.shift();
    this.#lags.push(Math.max(0, now - this.#sampledAt - SAMPLE_MS));
    this.#sampledAt = now;
    const memoryBytes = process.memoryUsage.rss();
    this.update({ ...this.sample, memoryBytes, lagMs: Math.min(...this.#lags) });
    // A garbage collection frees the memory of ended requests. An idle runtime would not start a collection by itself.
    if (this.step > 0 && memoryBytes > this.#memoryBytes.largeBodies * (1 - MARGIN)) Bun.gc(false);
    if (!this.#isReadingDisk) this.readDisk().catch(onProblem);
  }

  #isLarge(request: Request): boolean {
    const length = declaredLength(request);
    const isUnknown = length === null && request.headers.has("transfer-encoding");
    return request.method === "POST" && (isUnknown || (length ?? 0) > this.#options.settings.largeBodyBytes);
  }

  /** Returns the highest step that any signal requires. `margin` makes the thresholds stricter. */
  #stepOf(margin: number): OverloadStep {
    const { memoryBytes, freeDiskBytes, lagMs } = this.sample;
    const { settings } = this.#options;
    const isReached = (name: keyof Thresholds): boolean =>
      memoryBytes >= this.#memoryBytes[name] * (1 - margin) ||
      freeDiskBytes < settings.freeDiskBytes[name] * (1 + margin) ||
      lagMs >= settings.lagMs[name] * (1 - margin);
    return isReached("requests") ? 2 : isReached("largeBodies") ? 1 : 0;
  }

  #change(step: OverloadStep): void {
    const isWorse = step > this.step;
    this.step = step;
    this.#calmSamples = 0;
    const { memoryBytes, freeDiskBytes, lagMs } = this.sample;
    const measured = `memory ${toMib(memoryBytes)} MiB, free disk ${toMib(freeDiskBytes)} MiB, event loop ${Math.round(lagMs)} ms late`;
    this.#options.onChange(`overload: ${EFFECTS[step]} (${measured})`, isWorse ? "warn" : "info");
  }
}

const EFFECTS: Record<OverloadStep, string> = {
  0: "everything is served again",
  1: "no new large bodies",
  2: "only probes are served",
};

function toMib(bytes: number): number {
  return Math.round(bytes / MIB);
}
