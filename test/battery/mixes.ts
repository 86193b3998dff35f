import type { BalancerName } from "../support/balancers.ts";
import type { FaultName } from "./faults.ts";

/** A combination of processes and stores, and the faults that can happen. */
export interface Mix {
  name: string;
  store: "sqlite" | "postgres" | "redis";
  machines: number;
  /** Number of worker processes on each machine. */
  workers: number;
  /** The faults that are chosen at random. A fault that is listed twice is chosen twice as often. */
  faults: readonly FaultName[];
  balancer?: BalancerName;
  env?: Record<string, string>;
  /** True when the mix can move the wall clock. */
  hasClock?: boolean;
  clients: number;
  /** Maximum pause of a client between two requests. */
  thinkMs: number;
  /** Mean pause after a fault. */
  gapMs: number;
}

const CHANGES: readonly FaultName[] = ["narrow-budget", "narrow-budget", "ample-budget", "price"];
const VENDORS: readonly FaultName[] = ["vendor-outage", "vendor-dies"];
const DATABASE: readonly FaultName[] = [
  "database-crash",
  "database-freeze",
  "database-blackhole",
  "database-failover",
];
const REDIS: readonly FaultName[] = ["redis-crash", "redis-freeze", "redis-flush"];
const BASE = { machines: 1, workers: 1, clients: 10, thinkMs: 60, gapMs: 800 };
const BALANCED = { store: "redis", machines: 3, workers: 1, clients: 6, thinkMs: 1_000 } as const;

export const MIXES: readonly Mix[] = [
  {
    ...BASE,
    name: "sqlite",
    store: "sqlite",
    faults: ["kill", "kill", "restart", "database-lock", ...CHANGES, ...VENDORS],
  },
  {
    ...BASE,
    name: "sqlite-workers",
    store: "sqlite",
    workers: 3,
    faults: ["kill-worker", "kill-worker", "database-lock", ...CHANGES, ...VENDORS],
  },
  {
    ...BASE,
    name: "sqlite-machines",
    store: "sqlite",
    machines: 4,
    faults: ["kill", "kill", "restart", "database-lock", ...CHANGES, ...VENDORS],
  },
  {
    ...BASE,
    name: "clock",
    store: "sqlite",
    machines: 3,
    hasClock: true,
    faults: ["clock", "clock", "kill", "restart"],
  },
  { ...BASE, name: "postgres", store: "postgres", faults: [...DATABASE, "kill", ...CHANGES, ...VENDORS] },
  {
    ...BASE,
    name: "postgres-workers",
    store: "postgres",
    workers: 2,
    faults: [...DATABASE, "kill-worker", "kill-supervisor", ...CHANGES],
  },
  {
    ...BASE,
    name: "postgres-machines",
    store: "postgres",
    machines: 3,
    faults: [...DATABASE, "kill", "restart", "database-and-kill", ...CHANGES, ...VENDORS],
  },
  {
    ...BASE,
    name: "redis-machines",
    store: "redis",
    machines: 3,
    faults: [...DATABASE, ...REDIS, "kill", "restart", "database-and-kill", ...CHANGES],
  },
  {
    ...BASE,
    name: "redis-workers",
    store: "redis",
    machines: 2,
    workers: 2,
    faults: ["database-freeze", ...REDIS, "kill-worker", "restart", ...CHANGES],
  },
  { ...BASE, ...BALANCED, name: "nginx", gapMs: 10_500, faults: ["restart", "restart", "kill"] },
  {
    ...BASE,
    ...BALANCED,
    name: "haproxy",
    gapMs: 2_500,
    env: { LEAVE_SECONDS: "2" },
    faults: ["restart", "restart", "kill", "database-freeze", "database-and-kill", "redis-crash"],
  },
];
