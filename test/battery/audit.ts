import { IMAGE_NANOS } from "../support/fleet.ts";
import type { Hit } from "../upstreams/simulator.ts";
import { callIdOf, type Outcome } from "./calls.ts";
import { isKilled } from "./judge.ts";
import { PROBE, type Setting } from "./setting.ts";

interface Charge {
  id: string;
  requestId: string;
  amount: bigint;
  /** Number of output tokens; null when the charge is for pictures. */
  tokens: number | null;
  budgets: readonly string[];
  flags: readonly string[];
  /** Unix milliseconds. */
  admittedAt: number;
}

/** Time after which every process uses a changed price or budget. */
const CHANGE_MS = 3_500;

/** Compares the records of callers, vendors, ledger and budgets. Returns a sentence for each difference. */
export async function audit(setting: Setting, outcomes: readonly Outcome[]): Promise<string[]> {
  const charges = await readCharges(setting);
  const byRequest = Map.groupBy(charges, ({ requestId }) => requestId);
  const hits = Map.groupBy(
    setting.fleet.vendors.flatMap((vendor) => [...vendor.hits]),
    callIdOf,
  );
  const known = new Set(outcomes.map(({ call }) => call.id));
  return [
    ...charges
      .filter(({ requestId }) => !known.has(requestId))
      .map(({ id }) => `${id} charges nobody's request`),
    ...outcomes.flatMap((outcome) => {
      const own = byRequest.get(outcome.call.id) ?? [];
      const sent = hits.get(outcome.call.id) ?? [];
      return compare(setting, outcome, own, sent).map(
        (problem) => `${outcome.call.id} (${outcome.call.kind}, ${outcome.end}): ${problem}`,
      );
    }),
    ...(setting.clock ? [] : overruns(setting, charges)),
    ...(await heldOf(setting)),
    ...(await verify(setting)),
  ];
}

async function readCharges({ fleet }: Setting): Promise<Charge[]> {
  const rows = await fleet.query(
    `SELECT id, request_id, amount, consumed, budgets, flags, admitted_at FROM ledger
     WHERE request_id <> '${PROBE}' ORDER BY admitted_at, id`,
  );
  return rows.map((row) => {
    const consumed = JSON.parse(String(row["consumed"]));
    return {
      id: String(row["id"]),
      requestId: String(row["request_id"]),
      amount: BigInt(String(row["amount"])),
      tokens: consumed.unit === "token" ? consumed.tokens.output : null,
      budgets: JSON.parse(String(row["budgets"])),
      flags: JSON.parse(String(row["flags"])),
      admittedAt: Number(row["admitted_at"]),
    };
  });
}

function compare(
  setting: Setting,
  outcome: Outcome,
  charges: readonly Charge[],
  hits: readonly Hit[],
): string[] {
  const { call, end, tokens } = outcome;
  const [charge] = charges;
  if (charges.length > 1) return [`charged ${charges.length} times`];
  if (!charge) {
    if (end === "whole" || end === "cut") return ["received and not charged"];
    const isExcused = end !== "left" || isKilled(setting, outcome) || tokens === 0;
    return isExcused ? [] : [`received ${tokens} tokens before it left, and not charged`];
  }
  if (end === "refused") return [`charged ${charge.amount} for an error`];
  // A disconnection may discard a call's bytes after the socket has accepted them. In this case a charge of zero tokens
  // is right although no vendor received the call.
  const isCounted = charge.tokens === null ? charge.amount !== 0n : charge.tokens !== 0;
  const isUnsent = hits.length === 0 && (end !== "left" || isCounted);
  if (isUnsent) return [`charged ${charge.amount} without a call to a vendor`];
  if (charge.tokens === null) return compareImage(outcome, charge);
  const problems: string[] = [];
  if (!isAtPrice(setting, charge, outcome)) problems.push(`${charge.amount} for ${charge.tokens} tokens`);
  if ((end === "whole" || end === "cut") && charge.tokens !== tokens)
    problems.push(`charged ${charge.tokens} tokens, received ${tokens}, flags ${charge.flags.join(" ")}`);
  if (end === "whole" && outcome.reported !== charge.tokens)
    problems.push(`charged ${charge.tokens} tokens, told ${outcome.reported}`);
  if (end === "whole" && !hits.some((hit) => sentTokens(hit) === charge.tokens))
    problems.push(`charged ${charge.tokens} tokens, sent ${hits.map(sentTokens).join()}`);
  if (end === "left" && charge.tokens < tokens)
    problems.push(`charged less than the ${tokens} tokens received`);
  if (charge.tokens > call.tokens) problems.push(`charged ${charge.tokens} of ${call.tokens} tokens`);
  return problems;
}

/**
 * Checks the charge for pictures. Without a complete response, the charge is zero (a likely cost is recorded), or one
 * picture's.
 */
function compareImage({ end, pictures }: Outcome, { amount }: Charge): string[] {
  if (end !== "whole" && amount === 0n) return [];
  const wanted = IMAGE_NANOS * BigInt(end === "whole" ? pictures : 1);
  return amount === wanted ? [] : [`charged ${amount}, not ${wanted}`];
}

/** Returns the tokens of a response that the vendor sent completely. Null for any other response. */
function sentTokens({ respondedAt, status, behaviour }: Hit): number | null {
  return respondedAt !== null && status === 200 ? (behaviour.tokens ?? null) : null;
}

/** True when the amount equals the tokens at a price that was valid when the request was admitted. */
function isAtPrice(
  { history, clock }: Setting,
  { amount, tokens, admittedAt }: Charge,
  outcome: Outcome,
): boolean {
  const at = clock ? outcome.startedAt : admittedAt;
  const prices = history.prices.filter(({ from }, index) => {
    const until = history.prices[index + 1]?.from ?? Number.POSITIVE_INFINITY;
    return from <= at && at <= until + CHANGE_MS;
  });
  return prices.some(({ nanos }) => amount === BigInt(tokens ?? 0) * nanos);
}

/**
 * Returns a sentence for each charge that exceeds its hold, or that its budget could not pay when the request was
 * admitted.
 */
function overruns({ history, narrowBudget }: Setting, charges: readonly Charge[]): string[] {
  const budgets = new Set(history.amounts.map(({ budget }) => budget));
  return [...budgets, narrowBudget ?? ""].flatMap((budget) => {
    const amounts = history.amounts.filter((amount) => amount.budget === budget);
    let spent = 0n;
    return charges
      .filter((charge) => charge.budgets.includes(budget))
      .flatMap(({ id, amount, admittedAt, flags }) => {
        if (flags.includes("over_hold")) return [`${id} cost more than was held`];
        spent += amount;
        const inForce = amounts.filter(({ from }, index) => {
          const until = amounts[index + 1]?.from ?? Number.POSITIVE_INFINITY;
          return from - CHANGE_MS <= admittedAt && admittedAt <= reachesAll(history, until);
        });
        const most = inForce.reduce((max, { nanos }) => (nanos > max ? nanos : max), 0n);
        return spent <= most ? [] : [`${id} brings ${budget} to ${spent} of ${most}`];
      });
  });
}

/** Returns the time from which every process uses a change. An outage of the database delays the change. */
function reachesAll({ databaseOutages }: Setting["history"], from: number): number {
  const outages = databaseOutages.filter((outage) => outage.from <= from + CHANGE_MS && outage.to >= from);
  return Math.max(from, ...outages.map(({ to }) => to)) + CHANGE_MS;
}

async function heldOf({ fleet }: Setting): Promise<string[]> {
  const budgets = await fleet.query("SELECT id, held FROM budgets WHERE held <> 0");
  const leases = await fleet.query("SELECT lease, budget, amount FROM leases WHERE amount <> 0");
  return [
    ...budgets.map(({ id, held }) => `budget ${id} still holds ${held}`),
    ...leases.map(({ lease, budget, amount }) => `lease ${lease} still holds ${amount} of ${budget}`),
  ];
}

/** Lets every machine compare the ledger with its own journals. */
async function verify({ fleet }: Setting): Promise<string[]> {
  const results = await Promise.all(
    fleet.gateways.map((gateway) => gateway.cli("ledger", "verify").then(String, String)),
  );
  return results.filter((text) => !text.includes("no difference") || text.includes("not posted"));
}
