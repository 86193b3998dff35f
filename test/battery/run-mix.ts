import { until } from "../support/gateway.ts";
import { seeded } from "../support/kill-rounds.ts";
import { audit } from "./audit.ts";
import { behaviourOf, callIdOf, makeCall, pick, send, type Call, type Outcome } from "./calls.ts";
import { applyFault, type FaultName } from "./faults.ts";
import { judge } from "./judge.ts";
import type { Mix } from "./mixes.ts";
import { openSetting, type Setting } from "./setting.ts";

export interface MixReport {
  name: string;
  seconds: number;
  requests: number;
  whole: number;
  faults: readonly FaultName[];
  /** A sentence for each violated guarantee. */
  violations: readonly string[];
}

/** Runs a mix under load for the given seconds, then compares all records of the mix. */
export async function runMix(mix: Mix, seconds: number, seed: number): Promise<MixReport> {
  const startedAt = performance.now();
  const random = seeded(seed ^ Bun.hash.crc32(mix.name));
  await using setting = await openSetting(mix);
  const calls = new Map<string, Call>();
  setVendors(setting, calls);
  const load = startLoad(setting, calls, seed);
  const faults = await applyFaults(setting, random, performance.now() + seconds * 1_000);
  const outcomes = await load.stop();
  const violations = [...judge(setting, outcomes), ...(await endAll(setting))];
  violations.push(...(await audit(setting, outcomes)));
  return {
    name: mix.name,
    seconds: (performance.now() - startedAt) / 1_000,
    requests: outcomes.length,
    whole: outcomes.filter(({ end }) => end === "whole").length,
    faults,
    violations,
  };
}

function setVendors(setting: Setting, calls: ReadonlyMap<string, Call>): void {
  for (const [index, vendor] of setting.fleet.vendors.entries())
    vendor.respondBy((hit) => {
      if (index === 0 && setting.isVendorDown) return { fault: "error-status", status: 503 };
      const call = calls.get(callIdOf(hit));
      return call && behaviourOf(call, index);
    });
}

/** Starts clients that send one request after another. */
function startLoad(
  setting: Setting,
  calls: Map<string, Call>,
  seed: number,
): { stop(): Promise<readonly Outcome[]> } {
  const outcomes: Outcome[] = [];
  const state = { isStopping: false };
  const clients = Array.from({ length: setting.mix.clients }, async (_, client) => {
    const random = seeded(seed * 1_000 + client);
    for (let sent = 0; !state.isStopping; sent += 1) {
      const call = makeCall(`b${client}-${sent}`, random);
      calls.set(call.id, call);
      const target = await targetOf(setting, random);
      const startedAt = Date.now();
      const result = await send(call, target.url, setting.keys[call.key]);
      outcomes.push({ ...result, machine: target.machine, startedAt, endedAt: Date.now() });
      await Bun.sleep(random() * setting.mix.thinkMs);
    }
  });
  return {
    async stop() {
      state.isStopping = true;
      await Promise.all(clients);
      return outcomes;
    },
  };
}

/** Returns the address of the balancer, or of a machine that serves. Waits while no machine serves. */
async function targetOf(
  { fleet, balancer, down }: Setting,
  random: () => number,
): Promise<{ url: string; machine: number | null }> {
  if (balancer) return { url: balancer.url, machine: null };
  const serving = await until(
    "a machine to serve",
    () => {
      const machines = [...fleet.gateways.keys()].filter((machine) => !down.has(machine));
      return machines.length > 0 ? machines : undefined;
    },
    60_000,
  );
  const machine = pick(serving, random);
  return { url: fleet.gateways[machine]!.url, machine };
}

async function applyFaults(setting: Setting, random: () => number, end: number): Promise<FaultName[]> {
  const applied: FaultName[] = [];
  while (performance.now() < end) {
    const name = pick(setting.mix.faults, random);
    applied.push(name);
    if (process.env["BATTERY_TRACE"]) console.log(new Date().toISOString(), name);
    await applyFault(setting, name, random);
    await Bun.sleep(setting.mix.gapMs * (0.5 + random()));
  }
  return applied;
}

/** Checks that leases of killed processes return, idle processes hold nothing, and all processes exit normally. */
async function endAll(setting: Setting): Promise<string[]> {
  const { fleet, mix, history } = setting;
  const processes = mix.machines * mix.workers;
  const leases = "SELECT DISTINCT lease FROM leases WHERE amount > 0";
  const violations = [
    ...(await untilFewer(setting, "the leases of killed processes to return", leases, processes)),
    ...(await returnLeases(setting)),
  ];
  history.stops.push(...(await Promise.all(fleet.gateways.map((gateway) => gateway.stop()))));
  for (const code of history.stops) if (code !== 0) violations.push(`a process stopped with ${code}`);
  return violations;
}

/** Changes each budget, so that processes return unused leases. An amount that is still held has leaked. */
async function returnLeases(setting: Setting): Promise<string[]> {
  const { fleet, ampleBudget, narrowBudget } = setting;
  const budgets = [ampleBudget, narrowBudget].filter((budget) => budget !== null);
  for (const budget of budgets) await fleet.gateways[0]!.cli("budgets", "set", budget, "--amount", "2000");
  const held = "SELECT id FROM budgets WHERE held <> 0";
  return await untilFewer(setting, "idle processes to hold nothing", held, 0);
}

/** Waits until a query returns at most `most` rows. If the query still returns more, returns a sentence. */
async function untilFewer({ fleet }: Setting, what: string, query: string, most: number): Promise<string[]> {
  const hasFewer = async (): Promise<true | undefined> => {
    const rows = await fleet.query(query).catch(() => null);
    return rows && rows.length <= most ? true : undefined;
  };
  return await until(what, hasFewer, RETURNED_MS).then(
    () => [],
    (error: unknown) => [String(error)],
  );
}

/** Maximum time until leases return. A running process takes over journals every ten seconds. */
const RETURNED_MS = 20_000;
