import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBalancer, startBalancer, type Balancer, type BalancerName } from "../support/balancers.ts";
import { findFaketime, startFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { MODEL, openFleet, type Fleet } from "../support/fleet.ts";
import { until } from "../support/gateway.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import { findRedis, startRedis, type PrivateRedis } from "../support/redis.ts";
import { startSilentProxy, type SilentProxy } from "../support/silent-proxy.ts";
import type { KeyName } from "./calls.ts";
import type { Mix } from "./mixes.ts";
import { freePort } from "../support/free-port.ts";

/** The servers of a mix, with the changes and faults that were applied to them. */
export interface Setting extends AsyncDisposable {
  mix: Mix;
  fleet: Fleet;
  keys: Record<KeyName, string>;
  postgres: PrivatePostgres | null;
  /** Proxy between the gateways and PostgreSQL. */
  proxy: SilentProxy | null;
  redis: PrivateRedis | null;
  clock: FakeClock | null;
  balancer: Balancer | null;
  /** Id of the narrow key's budget; null while the key has no budget. */
  narrowBudget: string | null;
  narrowKeyId: string;
  ampleBudget: string | null;
  /** Indexes of machines that clients must not call at present. */
  down: Set<number>;
  /** True while the first vendor fails every call. */
  isVendorDown: boolean;
  history: History;
}

/** Start and end of a fault, in Unix milliseconds. */
export interface Span {
  from: number;
  to: number;
}

export interface History {
  /** Kills of processes. `to` is the time from which the machine served again. */
  kills: (Span & { machine: number; victim: "machine" | "worker" })[];
  /** Exit codes of processes that ended by SIGTERM. */
  stops: number[];
  databaseOutages: Span[];
  redisOutages: Span[];
  /** Times at which the second vendor died. */
  vendorDeaths: number[];
  /** Amounts of budgets in nano-units. `from` is the time from which an amount was valid. */
  amounts: { budget: string; from: number; nanos: bigint }[];
  /** Price of an output token in nano-units. `from` is the time at which the price was set. */
  prices: { from: number; nanos: bigint }[];
}

/** Requests per minute of the limited key. */
export const LIMIT = 40;
const FALLBACK_SECONDS = 2;
const NARROW = "0.0004";
const AMPLE = "1000";

export async function openSetting(mix: Mix): Promise<Setting> {
  const closing = new AsyncDisposableStack();
  try {
    const directory = await mkdtemp(join(tmpdir(), "battery-"));
    closing.defer(() => rm(directory, { recursive: true, force: true }));
    const postgres = mix.store === "sqlite" ? null : await startPostgres(required(findPostgres()).folder);
    if (postgres) closing.defer(() => stopThawed(postgres));
    const redis = mix.store === "redis" ? await startRedis(required(findRedis()).binary) : null;
    if (redis) closing.defer(() => stopThawed(redis));
    const database = await postgres?.createDatabase();
    const proxy = database === undefined ? null : closing.use(await startSilentProxy(database));
    const clock = mix.hasClock ? await startFakeClock(required(findFaketime()).library, directory) : null;
    const ports = mix.balancer && Array.from({ length: mix.machines }, freePort);
    const fleet = closing.use(
      await openFleet({
        machines: mix.machines,
        workers: mix.workers,
        vendors: 3,
        deadlines: [IMPATIENT, PATIENT, PATIENT],
        ...(proxy && database && { databaseUrl: proxy.through(database) }),
        ...(ports && { ports }),
        env: {
          ...(redis && { REDIS_URL: redis.url }),
          ...clock?.env,
          ...(mix.balancer && { GATEWAY_DEFAULT_LIMITS: "", TRUSTED_PROXIES: "127.0.0.1", ...mix.env }),
        },
      }),
    );
    const balancer = ports && mix.balancer ? closing.use(await openBalancer(mix.balancer, ports)) : null;
    const setting: Setting = {
      mix,
      fleet,
      postgres,
      proxy,
      redis,
      clock,
      balancer,
      down: new Set(),
      isVendorDown: false,
      ...(await createAccounts(fleet)),
      history: {
        kills: [],
        stops: [],
        databaseOutages: [],
        redisOutages: [],
        vendorDeaths: [],
        amounts: [],
        prices: [{ from: 0, nanos: 1_000n }],
      },
      [Symbol.asyncDispose]: () => closing.disposeAsync(),
    };
    setting.history.amounts.push({ budget: setting.narrowBudget ?? "", from: 0, nanos: nanosOf(NARROW) });
    await untilServingAll(setting);
    return setting;
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

/** Timeouts of the first vendor, which sometimes hangs. A healthy response takes at most half a second. */
const IMPATIENT = { firstByteMs: 1_000, idleMs: 2_000, totalMs: 4_000 };
const PATIENT = { firstByteMs: 10_000, idleMs: 10_000, totalMs: 25_000 };

export function required<Found extends object>(found: Found | { missing: string }): Found {
  if ("missing" in found) throw new Error(found.missing);
  return found;
}

/** A frozen server does not receive the signal to end. */
async function stopThawed(server: { thaw(): void; stop(): Promise<void> }): Promise<void> {
  server.thaw();
  await server.stop();
}

async function openBalancer(name: BalancerName, ports: readonly number[]): Promise<Balancer> {
  const balancer = await startBalancer(name, required(findBalancer(name)).binary, ports);
  const isReady = () =>
    fetch(`${balancer.url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until("the balancer", async () => ((await isReady()) ? true : undefined));
  return balancer;
}

type Accounts = Pick<Setting, "keys" | "narrowBudget" | "ampleBudget" | "narrowKeyId">;

async function createAccounts(fleet: Fleet): Promise<Accounts> {
  const gateway = fleet.gateways[0]!;
  const cli = async (...args: string[]) => JSON.parse(await gateway.cli(...args, "--json"));
  const [narrow, limited, ample] = await Promise.all([
    cli("keys", "create", "--name", "narrow"),
    cli("keys", "create", "--name", "limited", "--limit", `requests_per_minute=${LIMIT}`),
    cli("budgets", "create", "--amount", AMPLE),
    gateway.cli("orgs", "set", "default", "--fallback-after", String(FALLBACK_SECONDS)),
  ]);
  const budget = await cli("budgets", "create", "--amount", NARROW, "--key", narrow.key.id);
  await Bun.sleep(IN_FORCE_MS);
  return {
    keys: { ample: gateway.key, narrow: narrow.secret, limited: limited.secret },
    narrowBudget: budget.id,
    ampleBudget: ample.id,
    narrowKeyId: narrow.key.id,
  };
}

/** Time after which every process uses a change in the database (docs/money-and-privacy/budgets.md: two seconds). */
export const IN_FORCE_MS = 2_500;

/** Request id and prompt of every probe. The battery's own checks ignore probes, but `ledger verify` counts them. */
export const PROBE = "probe";

/**
 * Waits until every process has served the `ample` key twice. By the first hold a process learns how much the budget
 * has left. At the second hold the process leases in advance.
 */
export async function untilServingAll({ fleet, mix }: Setting): Promise<void> {
  const probe = async (gateway: Fleet["gateways"][number]): Promise<boolean> => {
    const request = { gateway, requestId: PROBE, prompt: PROBE, isOnNewConnection: true, model: MODEL };
    const response = await fleet.chat(request).catch(() => null);
    await response?.text().catch(() => "");
    return response?.status === 200;
  };
  let rounds = 0;
  const count = mix.workers === 1 ? 1 : 16;
  await until(
    "every process to serve",
    async () => {
      const probes = fleet.gateways.flatMap((gateway) => Array.from({ length: count }, () => probe(gateway)));
      if ((await Promise.all(probes)).every(Boolean)) rounds += 1;
      return rounds === 2 ? true : undefined;
    },
    30_000,
  );
}

/** Converts a decimal with at most nine places to whole billionths. */
export function nanosOf(decimal: string): bigint {
  return BigInt(Math.round(Number(decimal) * 1e9));
}
