/**
 * Kills processes under load and compares three records: complete responses at the clients, responses at the vendor,
 * and the ledger.
 */
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

const MACHINES = 3;
const CLIENTS = 24;
/** Time in which leases return. A running process takes over journals every ten seconds, a starting process at once. */
const RETURNED_MS = 15_000;

/** Kills processes with a common store at random times under load. Returns true when every figure is right. */
export async function killUnderLoad(kills: number, random = Math.random): Promise<boolean> {
  await using fleet = await openFleet({ machines: MACHINES });
  await fleet.gateways[0]!.cli("budgets", "create", "--amount", "100");
  await untilBudgetInForce(fleet);
  const load = startLoad(fleet);
  for (let kill = 0; kill < kills; kill += 1) {
    await Bun.sleep(50 + random() * 250);
    const gateway = fleet.gateways[Math.floor(random() * MACHINES)]!;
    await gateway.kill();
    await gateway.restart();
  }
  const received = await load.stop();
  const stoppedAt = performance.now();
  await until("the leases of killed processes to return", () => onlyLivingHold(fleet), RETURNED_MS * 2);
  const returnedMs = Math.round(performance.now() - stoppedAt);
  const codes = await Promise.all(fleet.gateways.map((gateway) => gateway.stop()));
  return [
    reportAtLeast("P1", `responses received whole over ${kills} kills`, received.size, "responses", kills),
    reportAtMost("P1", "leases of killed processes returned after", returnedMs, "ms", RETURNED_MS),
    reportExact(
      "P1",
      "processes that stopped well",
      codes.filter((code) => code === 0).length,
      "processes",
      MACHINES,
    ),
    ...(await compareRecords(fleet, received)),
  ].every(Boolean);
}

/** Starts clients that send one request after another. */
function startLoad(fleet: Fleet): { stop(): Promise<Map<string, number>> } {
  /** Output tokens of complete responses, by request id. */
  const received = new Map<string, number>();
  const state = { isStopping: false };
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let sent = 0; !state.isStopping; sent += 1) {
      const requestId = `kill-${client}-${sent}`;
      const tokens = await callOnce(fleet, requestId, sent % 2 === 0).catch(() => null);
      if (tokens !== null) received.set(requestId, tokens);
    }
  });
  return {
    async stop() {
      state.isStopping = true;
      await Promise.all(clients);
      return received;
    },
  };
}

/** Returns the tokens that a complete response reports; null for any other response. */
async function callOnce(fleet: Fleet, requestId: string, isStream: boolean): Promise<number | null> {
  const tokens = 1 + Math.floor(Math.random() * 20);
  const prompt = `id=${requestId} [[reply tokens=${tokens} frameDelayMs=1]]`;
  const response = await fleet.chat({ requestId, isStream, tokens: 20, prompt });
  const text = await response.text();
  if (response.status !== 200 || (isStream && !text.includes("data: [DONE]"))) return null;
  const reported = /"completion_tokens":\s*(\d+)/.exec(text)?.[1];
  return reported === undefined ? null : Number(reported);
}

/** Returns true when at most one lease for each machine contains money, otherwise undefined. */
async function onlyLivingHold(fleet: Fleet): Promise<true | undefined> {
  const leases = await fleet.query("SELECT lease FROM leases WHERE amount > 0");
  return leases.length <= MACHINES ? true : undefined;
}

async function compareRecords(fleet: Fleet, received: ReadonlyMap<string, number>): Promise<boolean[]> {
  const rows = await fleet.query(`SELECT request_id, amount FROM ledger WHERE request_id <> '${PROBE}'`);
  const billed = new Map(rows.map((row) => [String(row["request_id"]), BigInt(String(row["amount"]))]));
  const vendors = new Map(
    fleet.vendors.flatMap(({ hits }) =>
      hits.map((hit): [string, typeof hit] => [/id=([\w-]+)/.exec(hit.body.toString())?.[1] ?? "", hit]),
    ),
  );
  const unbilled = [...received.keys()].filter((id) => !billed.has(id));
  const wrong = [...received].filter(([id, tokens]) => billed.get(id) !== BigInt(tokens) * TOKEN_NANOS);
  // A charge equals the usage in the vendor's complete response, or is lower if the client received less.
  const unknown = [...billed].filter(([id, amount]) => {
    const usage = Object(vendors.get(id)?.usage)["completion_tokens"];
    return !vendors.has(id) || (usage !== undefined && amount > BigInt(usage) * TOKEN_NANOS);
  });
  const { spent, held } = await readBudget(fleet);
  const sum = [...billed.values()].reduce((total, amount) => total + amount, 0n);
  return [
    reportExact("P1", "responses received and not billed", unbilled.length, "responses", 0),
    reportExact("P1", "responses billed twice", rows.length - billed.size, "responses", 0),
    reportExact("P1", "responses billed otherwise than received", wrong.length, "responses", 0),
    reportExact("P1", "charges that the vendor's book does not bear", unknown.length, "charges", 0),
    reportExact("P1", "ledger less budget's spending", Number(sum - spent), "nano-units", 0),
    reportExact("P1", "still held after the end", Number(held), "nano-units", 0),
  ];
}
