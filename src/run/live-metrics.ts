import { targetName } from "../domain/channel.ts";
import type { Limits } from "../domain/limits.ts";
import { limitOf } from "../gateway/admission/limit-grant.ts";
import type { ConcurrencyLimiter } from "../gateway/routing/call-bounds.ts";
import type { Health } from "../gateway/routing/health.ts";
import { type BackgroundWork, every } from "../lib/waiting.ts";
import type { Storage } from "../storage/index.ts";
import { labelsOf, type Sample } from "../telemetry/counters.ts";
import { METRICS } from "../telemetry/metrics.table.ts";
import { gauge, type MetricFamily } from "../telemetry/metrics.ts";
import type { LiveSettings } from "./reload.ts";

export interface LiveSources {
  live: LiveSettings;
  storage: Pick<Storage, "admin" | "snapshot">;
  health: Health;
  concurrency: ConcurrencyLimiter;
}

const BUDGETS_MS = 10_000;
/**
 * Maximum number of budgets that have their own time series. The same maximum applies to organizations and to targets.
 */
const MAX_SERIES = 1_000;
const NANOS = 1e9;
const LIMITS: Readonly<Record<string, keyof Limits>> = {
  requests_per_minute: "requestsPerMinute",
  tokens_per_minute: "tokensPerMinute",
  images_per_minute: "imagesPerMinute",
};

/**
 * Metrics of the configured targets, channels, limits and budgets. A scrape reads only memory: budgets are read from
 * the database in the background.
 */
export class LiveMetrics {
  readonly #sources: LiveSources;
  #budgets: readonly BudgetSamples[] = [];

  constructor(sources: LiveSources) {
    this.#sources = sources;
  }

  /** Reads the budgets now and at intervals. While the database is unavailable, the metrics keep the last values. */
  start(): BackgroundWork {
    const read = async (): Promise<void> => void (this.#budgets = await this.#readBudgets());
    void read().catch(() => {});
    return every(BUDGETS_MS, read, () => {});
  }

  families(): MetricFamily[] {
    const slots = [...this.#sources.concurrency.use()];
    const ofChannel = (value: "running" | "max"): Sample[] =>
      slots.map((each) => [
        "",
        labelsOf(METRICS.gateway_channel_calls_running.labels, [each.channel]),
        each[value],
      ]);
    return [
      gauge("gateway_target_up", this.#targets()),
      gauge("gateway_channel_calls_running", ofChannel("running")),
      gauge("gateway_channel_calls_max", ofChannel("max")),
      gauge("gateway_limit", this.#limits()),
      gauge(
        "gateway_budget_left",
        this.#budgets.map(({ labels, left }) => ["", labels, left]),
      ),
      gauge(
        "gateway_budget_amount",
        this.#budgets.map(({ labels, amount }) => ["", labels, amount]),
      ),
    ];
  }

  #targets(): Sample[] {
    const { routes, organizations } = this.#sources.storage.snapshot.directory();
    const own = organizations.values().flatMap((organization) => organization.routes.values());
    const names = new Set(
      [...routes.declared.values(), ...own].flatMap(({ targets }) => targets.map(targetName)),
    );
    const down = new Set(
      this.#sources.health
        .ejections()
        .filter(({ organization }) => organization === null)
        .map(({ target }) => target),
    );
    // A target of a model that was derived from a pattern is known only while it is ejected.
    const shown = [...down, ...names.difference(down)].slice(0, MAX_SERIES);
    return shown.map((name) => {
      const slash = name.indexOf("/");
      const target = [name.slice(0, slash), name.slice(slash + 1)];
      return ["", labelsOf(METRICS.gateway_target_up.labels, target), Number(!down.has(name))];
    });
  }

  #limits(): Sample[] {
    const { organizations } = this.#sources.storage.snapshot.directory();
    const defaults = this.#sources.live.limits.organization;
    return [...organizations.values()].slice(0, MAX_SERIES).flatMap(({ id, limits }) =>
      Object.entries(LIMITS).flatMap(([limit, name]): Sample[] => {
        const value = limitOf(limits[name], defaults[name]);
        return value === null ? [] : [["", labelsOf(METRICS.gateway_limit.labels, [id, limit]), value]];
      }),
    );
  }

  async #readBudgets(): Promise<BudgetSamples[]> {
    const { admin, snapshot } = this.#sources.storage;
    const budgets = await admin.budgets.mostSpent(MAX_SERIES);
    const { organizations } = snapshot.directory();
    return budgets.map(({ id, organizationId, amount, spent }) => {
      const currency = organizations.get(organizationId)?.currency ?? "";
      return {
        labels: labelsOf(METRICS.gateway_budget_left.labels, [id, organizationId, currency]),
        amount: Number(amount) / NANOS,
        left: Math.max(0, Number(amount - spent)) / NANOS,
      };
    });
  }
}

interface BudgetSamples {
  labels: string;
  amount: number;
  left: number;
}
