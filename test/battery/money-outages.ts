/**
 * Stops or freezes the database under load. During the outage, known keys must be served within their budgets and
 * unknown keys must get 503. Afterwards, every charge must arrive.
 */
import { newSecret } from "../../src/lib/secret.ts";
import {
  openFleet,
  PROBE,
  readBudget,
  TOKEN_NANOS,
  untilBudgetInForce,
  type Fleet,
} from "../support/fleet.ts";
import { reportAtLeast, reportAtMost, reportExact } from "../support/figure.ts";
import { until } from "../support/gateway.ts";
import { startPostgres, type PrivatePostgres } from "../support/postgres.ts";

export const OUTAGES: Record<"stopped" | "frozen", { begin: Action; end: Action }> = {
  stopped: { begin: (server) => server.crash(), end: (server) => server.restart() },
  frozen: { begin: (server) => server.freeze(), end: (server) => server.thaw() },
};

type Action = (server: PrivatePostgres) => void | Promise<void>;

const REQUESTS_PER_SECOND = 50;
const MIN_SERVED_PERCENT = 99.9;
const MAX_MS = 1_000;
const DRAINED_MS = 30_000;

/** Returns true when every figure is right. `folder` is the folder of PostgreSQL's programs. */
export async function outlast(kind: keyof typeof OUTAGES, seconds: number, folder: string): Promise<boolean> {
  const server = await startPostgres(folder);
  try {
    await using fleet = await openFleet({ databaseUrl: await server.createDatabase() });
    await fleet.gateways[0]!.cli("budgets", "create", "--amount", "100");
    await untilBudgetInForce(fleet);
    const load = startLoad(fleet);
    await until("some responses", () => (load.outcomes.length >= 20 ? true : undefined));
    await OUTAGES[kind].begin(server);
    const before = load.outcomes.length;
    const unknownKeys = await sendWithUnknownKeys(fleet, seconds);
    const during = load.outcomes.slice(before);
    await OUTAGES[kind].end(server);
    const endedAt = performance.now();
    await load.stop();
    const served = load.outcomes.filter(({ status }) => status === 200);
    const rows = await untilCharged(fleet, served.length);
    const drainedMs = Math.round(performance.now() - endedAt);
    const servedDuring = during.filter(({ status }) => status === 200).length;
    const notRefused = unknownKeys.filter((status) => status !== 503).length;
    const ids = new Set(rows.map((row) => row["request_id"]));
    const slowest = Math.round(Math.max(...during.map(({ tookMs }) => tookMs)));
    const { spent } = await readBudget(fleet);
    const sum = rows.reduce((total, row) => total + BigInt(String(row["amount"])), 0n);
    const id = kind === "stopped" ? "P10" : "P11";
    const name = `database ${kind} for ${seconds} s:`;
    return [
      reportAtLeast(
        id,
        `${name} known keys served (${during.length})`,
        (100 * servedDuring) / during.length,
        "%",
        MIN_SERVED_PERCENT,
      ),
      reportAtMost(id, `${name} slowest answer`, slowest, "ms", MAX_MS),
      reportExact(
        id,
        `${name} unknown keys not refused with 503 (of ${unknownKeys.length})`,
        notRefused,
        "answers",
        0,
      ),
      reportExact(
        id,
        `${name} served and not charged`,
        served.filter((outcome) => !ids.has(outcome.id)).length,
        "requests",
        0,
      ),
      reportExact(id, `${name} charged twice`, rows.length - ids.size, "requests", 0),
      reportExact(
        id,
        `${name} charges off the price`,
        Number(sum - BigInt(rows.length) * 8n * TOKEN_NANOS),
        "nano-units",
        0,
      ),
      reportExact(id, `${name} ledger less budget's spending`, Number(sum - spent), "nano-units", 0),
      reportAtMost(id, `${name} drained after its return`, drainedMs, "ms", DRAINED_MS),
    ].every(Boolean);
  } finally {
    // A frozen server does not receive the signal to end.
    server.thaw();
    await server.stop();
  }
}

interface Outcome {
  id: string;
  status: number;
  tookMs: number;
}

/** Sends requests at a fixed rate, without waiting for earlier requests. */
function startLoad(fleet: Fleet): { outcomes: readonly Outcome[]; stop(): Promise<void> } {
  const outcomes: Outcome[] = [];
  const running = new Set<Promise<void>>();
  let sent = 0;
  const send = async (id: string): Promise<void> => {
    const startedAt = performance.now();
    const status = await fleet.chat({ requestId: id }).then(
      async (response) => (await response.text(), response.status),
      () => 0,
    );
    outcomes.push({ id, status, tookMs: performance.now() - startedAt });
  };
  const timer = setInterval(() => {
    const request = send(`outage-${sent++}`).finally(() => running.delete(request));
    running.add(request);
  }, 1000 / REQUESTS_PER_SECOND);
  return {
    outcomes,
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}

/** Sends two requests per second, each with a new unknown key. Returns the statuses. */
async function sendWithUnknownKeys(fleet: Fleet, seconds: number): Promise<number[]> {
  const statuses: Promise<number>[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    statuses.push(
      fleet.chat({ key: newSecret() }).then(async (response) => (await response.text(), response.status)),
    );
    await Bun.sleep(500);
  }
  return await Promise.all(statuses);
}

async function untilCharged(fleet: Fleet, count: number): Promise<Record<string, unknown>[]> {
  const query = `SELECT request_id, amount FROM ledger WHERE request_id <> '${PROBE}'`;
  return await until(
    `${count} charges`,
    async () => {
      const rows = await fleet.query(query).catch(() => []);
      return rows.length >= count ? rows : undefined;
    },
    DRAINED_MS * 2,
  );
}
