import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attack } from "./attack.ts";
import type { HonestFigures, HonestOrder, Kind } from "./honest.ts";
import type { HostileFigures, HostileOrder } from "./hostile.ts";
import { freeBytes, openCrowd, RESERVE_MIB, spooledFiles, type CrowdSetting } from "./setting.ts";

export interface Row {
  attack: string;
  what: string;
  /** Number of honest requests. `failed` is the number of honest requests that failed. */
  honest: number;
  failed: number;
  hostile: number;
  /** p99 of the most affected kind of request, divided by that kind's p99 in the quiet run. */
  ratio: number;
  slowest: Kind;
  peakMb: number;
  /** Seconds until all resources were normal again; null when they did not become normal in time. */
  recoverySeconds: number | null;
  /** A sentence for each violated guarantee. */
  violations: string[];
}

const MAX_RATIO = 3;
/** A lower p99 of the quiet run counts as this value, because one computation can block the event loop for so long. */
const FLOOR_MS = 100;
const MAX_MB = 600;
const RECOVERY_SECONDS = 60;
const SAMPLE_MS = 50;
const MAX_NAMED_FAILURES = 3;
const MIB = 1024 * 1024;
/** Uploads leave the reserve of free space untouched. Other data may use this many MiB of it. */
const RESERVE_SLACK_MIB = 4;
/** Allowed increases over the values of the quiet run, and the allowed lag of the event loop. */
const NORMAL = { residentMb: 150, descriptors: 30, lagSeconds: 0.05 };

/** A gateway that is first measured without attacks (the quiet run). Each attack is compared with that run. */
export class CrowdSession implements AsyncDisposable {
  readonly #setting: CrowdSetting;
  readonly #seconds: number;
  readonly #quiet: HonestFigures;
  readonly #normal: { residentMb: number; descriptors: number };

  private constructor(setting: CrowdSetting, seconds: number, quiet: HonestFigures) {
    this.#setting = setting;
    this.#seconds = seconds;
    this.#quiet = quiet;
    this.#normal = setting.gateway.resources();
  }

  /** Starts a gateway, warms it up and measures honest callers alone for `seconds`. */
  static async open(seconds: number, needsS3: boolean): Promise<CrowdSession> {
    const setting = await openCrowd(needsS3);
    await honestly(setting, 2);
    const quiet = await honestly(setting, seconds);
    const [failure] = failuresOf(quiet);
    if (failure === undefined) return new CrowdSession(setting, seconds, quiet);
    await setting[Symbol.asyncDispose]();
    throw new Error(`the quiet run failed: ${failure}`);
  }

  /** p99 of each kind in the quiet run, in milliseconds. */
  get quietText(): string {
    return Object.entries(this.#quiet)
      .map(([kind, { durations }]) => `${kind} ${p99(durations)} ms of ${durations.length}`)
      .join(", ");
  }

  /** Runs honest callers and one attack, then waits until all resources are normal again. */
  async run(attack: Attack): Promise<Row> {
    const setting = this.#setting;
    // Resets the peak of memory to the current value.
    writeFileSync(`/proc/${setting.gateway.pid}/clear_refs`, "5");
    using disk = watchDisk(setting);
    const [honest, hostile] = await Promise.all([
      honestly(setting, this.#seconds),
      hostilely(setting, attack.name, this.#seconds),
    ]);
    const { peakMb } = setting.gateway.resources();
    const { seconds, missing } = await this.#recover();
    const { ratio, slowest } = this.#slowest(honest);
    const failures = failuresOf(honest);
    const violations = [
      ...failures.slice(0, MAX_NAMED_FAILURES),
      ...Object.entries(hostile.achieved).map(([what, times]) => `${what} (${times} times)`),
      ...(ratio > MAX_RATIO ? [`p99 of ${slowest} is ${p99(honest[slowest].durations)} ms`] : []),
      ...(peakMb > MAX_MB ? [`${peakMb} MB of memory`] : []),
      ...(disk.leastMib < RESERVE_MIB - RESERVE_SLACK_MIB ? [`${disk.leastMib} MiB of disk left`] : []),
      ...missing,
    ];
    return {
      attack: attack.name,
      what: attack.what,
      honest: Object.values(honest).reduce((sum, { durations }) => sum + durations.length, 0),
      failed: failures.length,
      hostile: hostile.sent,
      ratio,
      slowest,
      peakMb,
      recoverySeconds: missing.length > 0 ? null : seconds,
      violations,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#setting[Symbol.asyncDispose]();
  }

  #slowest(honest: HonestFigures): { ratio: number; slowest: Kind } {
    const ratios = (Object.keys(honest) as Kind[]).map((kind) => ({
      slowest: kind,
      ratio: p99(honest[kind].durations) / Math.max(FLOOR_MS, p99(this.#quiet[kind].durations)),
    }));
    return ratios.reduce((most, one) => (one.ratio > most.ratio ? one : most));
  }

  async #recover(): Promise<{ seconds: number; missing: string[] }> {
    const startedAt = performance.now();
    for (;;) {
      const missing = await this.#notNormal();
      const seconds = (performance.now() - startedAt) / 1000;
      if (missing.length === 0 || seconds > RECOVERY_SECONDS) return { seconds, missing };
      await Bun.sleep(250);
    }
  }

  /** Lists differences from the quiet run in memory, connections, temporary files, event loop and slots. */
  async #notNormal(): Promise<string[]> {
    const setting = this.#setting;
    const { residentMb, descriptors } = setting.gateway.resources();
    const metrics = await (await fetch(`${setting.url}/metrics`)).text();
    const lag = Number(/^gateway_event_loop_lag_seconds ([\d.]+)$/m.exec(metrics)?.[1]);
    const files = spooledFiles(setting);
    return [
      ...(residentMb > this.#normal.residentMb + NORMAL.residentMb
        ? [`memory stays at ${residentMb} MB`]
        : []),
      ...(descriptors > this.#normal.descriptors + NORMAL.descriptors
        ? [`${descriptors} descriptors stay open`]
        : []),
      ...(files > 0 ? [`${files} temporary files stay`] : []),
      ...(lag < NORMAL.lagSeconds ? [] : [`the event loop is ${lag} s late`]),
      ...(await hostileSlots(setting)),
    ];
  }
}

/** Returns a sentence for each fault when the hostile key is not served normally after its attack. */
async function hostileSlots({ hostileUrl, hostileKeys }: CrowdSetting): Promise<string[]> {
  const send = async (path: string, body: object) => {
    const response = await fetch(`${hostileUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${hostileKeys.unlimited}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(RECOVERY_SECONDS * 1000),
    });
    await response.arrayBuffer();
    return response.status === 200
      ? []
      : [`${path} of the hostile key gets ${response.status} after its attack`];
  };
  return [
    ...(await send("/v1/chat/completions", {
      model: "crowd-chat",
      messages: [{ role: "user", content: "hi".padEnd(400_000) }],
    })),
    ...(await send("/v1/images/edits", {
      model: "crowd-image",
      prompt: "x",
      image: "https://93.184.216.34/a.png",
    })),
  ];
}

function honestly({ url, honestKey, honestLink }: CrowdSetting, seconds: number): Promise<HonestFigures> {
  const order: HonestOrder = { url, key: honestKey, link: honestLink, seconds };
  return readProgram("honest.ts", order);
}

function hostilely(setting: CrowdSetting, attack: string, seconds: number): Promise<HostileFigures> {
  const { hostileUrl: url, hostileKeys: keys, revokedLink } = setting;
  const order: HostileOrder = { url, keys, revokedLink, attack, seconds };
  return readProgram("hostile.ts", order);
}

/** Runs a program of this folder with a JSON argument and returns its parsed output. */
async function readProgram<Figures>(name: string, order: object): Promise<Figures> {
  const command = [process.execPath, join(import.meta.dir, name), JSON.stringify(order)];
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "inherit"] });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${name} failed: ${text}`);
  return JSON.parse(text);
}

function failuresOf(figures: HonestFigures): string[] {
  return Object.values(figures).flatMap(({ failures }) => failures);
}

function p99(durations: readonly number[]): number {
  const sorted = durations.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
}

/** Records the minimum of free disk space until disposal. */
function watchDisk(setting: CrowdSetting): Disposable & { leastMib: number } {
  const watch = {
    leastMib: Infinity,
    [Symbol.dispose]: () => clearInterval(timer),
  };
  const timer = setInterval(() => {
    watch.leastMib = Math.min(watch.leastMib, Math.floor(freeBytes(setting) / MIB));
  }, SAMPLE_MS);
  return watch;
}
