import { Database } from "bun:sqlite";
import { join } from "node:path";
import { childrenOf, endProcess, MODEL, untilServing } from "../support/fleet.ts";
import { until } from "../support/gateway.ts";
import { pick } from "./calls.ts";
import { IN_FORCE_MS, nanosOf, untilServingAll, type Setting, type Span } from "./setting.ts";

type Fault = (setting: Setting, random: () => number) => Promise<void>;

const HOUR_SECONDS = 3_600;
/** Time after which a client is connected to its machine. */
const CONNECTED_MS = 100;
const MIN_OUTAGE_MS = 500;
const MAX_OUTAGE_MS = 3_000;

/** Faults that can happen during a mix. Each function resolves when its fault has ended, or has begun if it lasts. */
export const FAULTS = {
  kill: (setting, random) =>
    killMachine(setting, machineOf(setting, random), () => Bun.sleep(random() * 500)),
  "kill-supervisor": (setting, random) =>
    killMachine(setting, machineOf(setting, random), () => Bun.sleep(random() * 500)),
  async "kill-worker"(setting, random) {
    const machine = machineOf(setting, random);
    const gateway = setting.fleet.gateways[machine]!;
    const child = pick(childrenOf(gateway.pid), random);
    const span = { machine, victim: "worker" as const, from: Date.now(), to: Number.POSITIVE_INFINITY };
    setting.history.kills.push(span);
    endProcess(child);
    await until("a new worker", () => (childrenOf(gateway.pid).includes(child) ? undefined : true), 15_000);
    await untilServing(gateway, setting.mix.workers);
    span.to = Date.now();
  },
  async restart(setting, random) {
    const machine = machineOf(setting, random);
    const gateway = setting.fleet.gateways[machine]!;
    setting.down.add(machine);
    if (!setting.balancer) await Bun.sleep(CONNECTED_MS);
    setting.history.stops.push(await gateway.stop());
    await gateway.restart();
    await untilServing(gateway, setting.mix.workers);
    setting.down.delete(machine);
  },
  "database-crash": (setting, random) =>
    databaseOutage(setting, outageMs(random), {
      begin: () => setting.postgres!.crash(),
      end: () => setting.postgres!.restart(),
    }),
  "database-freeze": (setting, random) =>
    databaseOutage(setting, outageMs(random), {
      begin: () => setting.postgres!.freeze(),
      end: () => setting.postgres!.thaw(),
    }),
  "database-blackhole": (setting, random) =>
    databaseOutage(setting, outageMs(random), {
      begin: () => setting.proxy!.silence({ isForAll: true }),
      end: () => setting.proxy!.recover(),
    }),
  "database-failover": (setting) =>
    databaseOutage(setting, 0, {
      begin: () => setting.postgres!.crash(),
      end: () => setting.postgres!.restart(),
    }),
  /** A machine is killed during an outage of the database, and starts again after the outage. */
  async "database-and-kill"(setting, random) {
    const span = begin(setting.history.databaseOutages);
    setting.postgres!.freeze();
    await Bun.sleep(outageMs(random) / 2);
    await killMachine(setting, machineOf(setting, random), async () => {
      await Bun.sleep(outageMs(random) / 2);
      setting.postgres!.thaw();
    });
    span.to = Date.now();
  },
  /** Another program holds SQLite's single write lock. */
  async "database-lock"(setting, random) {
    const span = begin(setting.history.databaseOutages);
    using database = new Database(join(setting.fleet.gateways[0]!.dataDirectory, "gateway.sqlite"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run("BEGIN IMMEDIATE");
    await Bun.sleep(outageMs(random));
    database.run("ROLLBACK");
    span.to = Date.now();
  },
  "redis-crash": (setting, random) =>
    redisOutage(setting, random, { begin: (redis) => redis.crash(), end: (redis) => redis.restart() }),
  "redis-freeze": (setting, random) =>
    redisOutage(setting, random, { begin: (redis) => redis.freeze(), end: (redis) => redis.thaw() }),
  "redis-flush": (setting, random) =>
    redisOutage(setting, random, { begin: (redis) => redis.ask("FLUSHALL", []), end: () => {} }),
  async "narrow-budget"(setting, random) {
    const gateway = setting.fleet.gateways[0]!;
    const amount = (Math.floor(random() * 20) / 10_000).toFixed(4);
    if (setting.narrowBudget === null) {
      const args = ["--amount", amount, "--key", setting.narrowKeyId, "--json"];
      setting.narrowBudget = JSON.parse(await gateway.cli("budgets", "create", ...args)).id as string;
    } else if (random() < 0.2) {
      await gateway.cli("budgets", "remove", setting.narrowBudget);
      setting.narrowBudget = null;
    } else await gateway.cli("budgets", "set", setting.narrowBudget, "--amount", amount);
    const budget = setting.narrowBudget;
    if (budget !== null) setting.history.amounts.push({ budget, from: Date.now(), nanos: nanosOf(amount) });
    await Bun.sleep(IN_FORCE_MS);
  },
  async "ample-budget"(setting, random) {
    const gateway = setting.fleet.gateways[0]!;
    if (setting.ampleBudget === null) {
      const created = await gateway.cli("budgets", "create", "--amount", "1000", "--json");
      setting.ampleBudget = JSON.parse(created).id as string;
    } else if (random() < 0.4) {
      await gateway.cli("budgets", "remove", setting.ampleBudget);
      setting.ampleBudget = null;
    } else {
      const amount = String(500 + Math.floor(random() * 1_000));
      await gateway.cli("budgets", "set", setting.ampleBudget, "--amount", amount);
    }
    await Bun.sleep(IN_FORCE_MS);
    await untilServingAll(setting);
  },
  async price(setting, random) {
    const perMillion = 1 + Math.floor(random() * 5);
    setting.history.prices.push({ from: Date.now(), nanos: BigInt(perMillion) * 1_000n });
    await setting.fleet.gateways[0]!.cli("prices", "set", MODEL, "--tokens", `output=${perMillion}`);
    await Bun.sleep(IN_FORCE_MS);
  },
  async "vendor-outage"(setting, random) {
    setting.isVendorDown = true;
    await Bun.sleep(outageMs(random));
    setting.isVendorDown = false;
  },
  /** From now on the second vendor accepts no connection. */
  async "vendor-dies"({ fleet, history }) {
    history.vendorDeaths.push(Date.now());
    await fleet.vendors[1]!.close();
  },
  async clock({ clock }, random) {
    await clock!.jump(Math.floor((random() * 4 - 2) * HOUR_SECONDS));
    await Bun.sleep(random() * 500);
  },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

/** Causes one fault and waits until every process serves. */
export async function applyFault(setting: Setting, name: FaultName, random: () => number): Promise<void> {
  await FAULTS[name](setting, random);
  await untilServingAll(setting);
}

function outageMs(random: () => number): number {
  return MIN_OUTAGE_MS + random() * (MAX_OUTAGE_MS - MIN_OUTAGE_MS);
}

function machineOf({ mix }: Setting, random: () => number): number {
  return Math.floor(random() * mix.machines);
}

/** Kills a machine by SIGKILL. The machine starts again after `meanwhile`. */
async function killMachine(setting: Setting, machine: number, meanwhile: () => Promise<void>): Promise<void> {
  const gateway = setting.fleet.gateways[machine]!;
  const span = { machine, victim: "machine" as const, from: Date.now(), to: Number.POSITIVE_INFINITY };
  setting.history.kills.push(span);
  setting.down.add(machine);
  await gateway.kill();
  await meanwhile();
  await gateway.restart();
  await untilServing(gateway, setting.mix.workers);
  setting.down.delete(machine);
  span.to = Date.now();
}

interface Outage {
  begin(): unknown;
  end(): unknown;
}

async function databaseOutage({ history }: Setting, ms: number, outage: Outage): Promise<void> {
  const span = begin(history.databaseOutages);
  await outage.begin();
  await Bun.sleep(ms);
  await outage.end();
  span.to = Date.now();
}

async function redisOutage(
  { history, redis }: Setting,
  random: () => number,
  outage: Record<keyof Outage, (redis: NonNullable<Setting["redis"]>) => unknown>,
): Promise<void> {
  const span = begin(history.redisOutages);
  await outage.begin(redis!);
  await Bun.sleep(outageMs(random));
  await outage.end(redis!);
  span.to = Date.now();
}

function begin(spans: Span[]): Span {
  const span = { from: Date.now(), to: Number.POSITIVE_INFINITY };
  spans.push(span);
  return span;
}
