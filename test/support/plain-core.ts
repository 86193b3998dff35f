import { PatternMap } from "../../src/lib/pattern-map.ts";
import type { Principal } from "../../src/domain/api-key.ts";
import type { Channel, Route } from "../../src/domain/channel.ts";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import { NO_LIMITS, type Limits } from "../../src/domain/limits.ts";
import type { Model } from "../../src/domain/model.ts";
import { DEFAULT_ORGANIZATION_SETTINGS, type OrganizationSettings } from "../../src/domain/organization.ts";
import type { Price } from "../../src/domain/price.ts";
import { LimitGrant } from "../../src/gateway/admission/limit-grant.ts";
import { MemoryLimiter } from "../../src/gateway/admission/memory-limiter.ts";
import type { Core } from "../../src/gateway/core.ts";
import { Billing } from "../../src/gateway/metering/billing.ts";
import { BudgetLeases } from "../../src/gateway/metering/budget-leases.ts";
import { OrphanCosts } from "../../src/gateway/metering/billing.ts";
import type { Directory } from "../../src/gateway/snapshot.ts";
import type { ImageUpstream, TextUpstream } from "../../src/gateway/upstreams.ts";
import type { JournalRecord } from "../../src/gateway/metering/stores.ts";
import { newRequestFacts, type RequestContext } from "../../src/gateway/request-context.ts";
import { ConcurrencyLimiter } from "../../src/gateway/routing/call-bounds.ts";
import { DetachedCalls } from "../../src/gateway/routing/call.ts";
import { Health } from "../../src/gateway/routing/health.ts";
import { RetryBudget } from "../../src/gateway/routing/call-bounds.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { DeadlineTimer } from "../../src/lib/deadline-timer.ts";
import { memoryBudgetStore } from "./memory-budget-store.ts";

export interface PlainCoreOptions {
  model: Model;
  price?: Price;
  /** Upstreams of the targets, in the order of the route. */
  text?: readonly TextUpstream[];
  images?: readonly ImageUpstream[];
  /** The organization's only budget, in nano-units. */
  budget?: bigint;
  limits?: Partial<Limits>;
  settings?: Partial<OrganizationSettings>;
  /** Maximum of the orphan cost in nano-units. */
  orphanCostCap?: bigint;
  firstByteMs?: number;
}

export interface PlainCore {
  core: Core;
  principal: Principal;
  /** With `isWritable: false`, the journal refuses records. */
  journal: { isWritable: boolean; records: JournalRecord[] };
  charges(): LedgerEntry[];
  request(signal?: AbortSignal): RequestContext;
  /** True when the budget can spend exactly what was not charged. Spends this amount, so call it last. */
  isAllGivenBack(): Promise<boolean>;
}

const BUDGET = "budget";

/** Creates the core with plain objects: one organization, one key, one model, and a target for each upstream. */
export function plainCore(options: PlainCoreOptions): PlainCore {
  const { model, price, text = [], images = [], budget = 1_000_000_000n } = options;
  const channels = (text.length > 0 ? text : images).map((_, index): Channel => ({
    id: `channel-${index}`,
    provider: "plain",
    settings: {},
  }));
  const route = {
    strategy: "ordered" as const,
    targets: channels.map((channel) => ({ channel, upstreamModel: "vendor-model", weight: 1 })),
  };
  const principal = plainPrincipal(options);
  const directory: Directory = {
    organizations: new Map([[principal.organization.id, principal.organization]]),
    models: new PatternMap(new Map<string, Model>([[model.id, model]])),
    routes: new PatternMap(new Map<string, Route>([[model.id, route]])),
    channels: new Map(channels.map((channel) => [channel.id, channel])),
    price: () => price ?? null,
  };
  const store = memoryBudgetStore({ [BUDGET]: budget });
  const leases = new BudgetLeases(store, "process", systemClock);
  const journal = { isWritable: true, records: [] as JournalRecord[] };
  const core: Core = {
    snapshot: { directory: () => directory, key: () => principal.key },
    upstreams: {
      text: (channel) => text.slice(channels.indexOf(channel)).slice(0, 1),
      image: (channel) => images[channels.indexOf(channel)],
      embedding: () => undefined,
    },
    limiter: new MemoryLimiter({ clock: systemClock }),
    limits: { organization: { ...NO_LIMITS, ...options.limits }, key: NO_LIMITS },
    billing: new Billing(leases, {
      append: (record) => {
        if (!journal.isWritable) throw new Error("disk full");
        journal.records.push(record);
      },
      isWritable: () => true,
      refusal: () => null,
    }),
    orphanCosts: new OrphanCosts(options.orphanCostCap ?? null, systemClock),
    failover: {
      clock: systemClock,
      deadlineTimer: new DeadlineTimer(5),
      health: new Health(systemClock),
      concurrency: new ConcurrencyLimiter(),
      retryBudget: new RetryBudget(systemClock, 0.2, 10),
      calls: new Set(),
      maxAttempts: 3,
    },
    detachedCalls: new DetachedCalls(),
    safeFetch: { download: () => Promise.reject(new Error("nothing is fetched")) },
    tokenCounter: { count: async () => null, close() {} },
    clock: systemClock,
    timeouts: {
      text: { firstByteMs: 5_000, idleMs: 5_000, totalMs: 5_000 },
      image: { firstByteMs: 5_000, totalMs: 5_000 },
    },
    firstByteMs: options.firstByteMs ?? 5_000,
    random: () => 0,
  };
  const charges = () => journal.records.filter(({ type }) => type === "charge").map(({ entry }) => entry);
  return {
    core,
    principal,
    journal,
    charges,
    request: (signal = new AbortController().signal) => {
      const grant = new LimitGrant(core.limiter, core.limits, principal);
      void grant.open(text.length > 0 ? "text" : "image");
      return {
        id: "req_own",
        requestId: "req_caller",
        principal,
        source: null,
        client: null,
        grant,
        signal,
        isOutcomeKept: false,
        isStrict: false,
        attempts: [],
        facts: newRequestFacts(),
      };
    },
    async isAllGivenBack() {
      const spent = charges().reduce((sum, { amount }) => sum + amount, 0n);
      const isMoreRefused = typeof (await leases.hold([BUDGET], budget - spent + 1n)) === "string";
      return isMoreRefused && typeof (await leases.hold([BUDGET], budget - spent)) === "object";
    },
  };
}

function plainPrincipal({ settings, budget }: PlainCoreOptions): Principal {
  return {
    organization: {
      id: "org",
      name: "Organization",
      currency: "USD",
      isDisabled: false,
      models: "*",
      settings: { ...DEFAULT_ORGANIZATION_SETTINGS, ...settings },
      limits: {},
      routes: new Map(),
      budgets: budget === undefined ? [] : [BUDGET],
    },
    key: {
      id: "key",
      organizationId: "org",
      name: "Key",
      prefix: "gk_",
      scopes: new Set(["ai:*" as const]),
      models: "*",
      addresses: null,
      limits: {},
      budgets: [],
      isDisabled: false,
      refuseIgnored: false,
      expiresAt: null,
    },
  };
}
