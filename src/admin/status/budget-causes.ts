import { isUsable } from "../../domain/api-key.ts";
import { budgetFigures } from "../../domain/budget-level.ts";
import { operatorMessage } from "../../domain/operator-message.ts";
import type { StatusCause } from "../../domain/status.ts";
import type { BudgetRecord } from "../budgets/schema.ts";
import type { AdminContext } from "../context.ts";
import type { OrganizationRecord } from "../organizations/schema.ts";
import type { TrafficSum } from "../usage/store-port.ts";
import { RECENT_MS } from "./recent-traffic.ts";

/** Maximum number of budgets that are causes. */
const MAX_BUDGETS = 20;

/**
 * Returns the budgets that are spent or nearly spent, and budgets that have lately refused requests because too little
 * money was left. Leaves out budgets of keys and organizations that are not in use. `ids` names the organizations;
 * undefined for all.
 */
export async function budgetCauses(
  context: AdminContext,
  organizations: readonly OrganizationRecord[],
  ids: readonly string[] | undefined,
): Promise<StatusCause[]> {
  const { store, clock } = context;
  const filter = { limit: MAX_BUDGETS, ...(ids && { organizationIds: ids }) };
  const [near, refusing] = await Promise.all([store.budgets.nearlySpent(filter), readRefusing(context, ids)]);
  const refusals = new Map(refusing.map(({ budget, since }) => [budget.id, { since }]));
  const all = new Map([...near, ...refusing.map(({ budget }) => budget)].map((each) => [each.id, each]));
  const causes = [...all.values()].slice(0, MAX_BUDGETS).map(async (budget): Promise<StatusCause[]> => {
    const organization = organizations.find(({ id }) => id === budget.organizationId);
    const key = budget.keyId === null ? null : await store.keys.get(budget.keyId);
    const isUsed = key && isUsable(key, clock.now());
    if (!organization || (budget.keyId !== null && !isUsed)) return [];
    const owned = { budget, owner: key?.name ?? organization.name, currency: organization.currency };
    return [budgetCause(owned, refusals.get(budget.id))];
  });
  return (await Promise.all(causes)).flat();
}

/** A budget that refuses requests. `since` is null when the refusals may be older than the range that was read. */
interface RefusingBudget {
  budget: BudgetRecord;
  since: number | null;
}

/**
 * Returns the budgets that have refused requests in the last minutes. A request of a key counts in several budgets; of
 * these, only the budget with the least money left is returned.
 */
async function readRefusing(
  { store, clock }: AdminContext,
  ids: readonly string[] | undefined,
): Promise<RefusingBudget[]> {
  const now = clock.now();
  const range = { from: now - RECENT_MS, to: now + RECENT_MS, span: "minute" as const };
  const sums = await store.usage.traffic({ ...range, ...(ids && { organizations: ids }) }, [
    "at",
    "organizationId",
    "keyId",
    "code",
  ]);
  const refused = sums.filter(({ code }) => code === NO_BUDGET);
  const owners = [...Map.groupBy(refused, ({ keyId }) => keyId)].slice(0, MAX_REFUSED);
  if (owners.length === 0) return [];
  const organizationIds = new Set(owners.flatMap(([, [first]]) => first?.organizationId ?? []));
  const budgets = [
    ...(await store.budgets.ofKeys(owners.map(([keyId]) => keyId))),
    ...(await store.budgets.ofOrganizations([...organizationIds])),
  ];
  return owners.flatMap(([keyId, minutes]) => {
    const [budget] = budgets
      .filter((each) => each.keyId === keyId || (each.keyId === null && isOf(each, minutes)))
      .toSorted((one, other) => Number(one.amount - one.spent - (other.amount - other.spent)));
    const since = Math.min(...minutes.map(({ at }) => at));
    return budget ? [{ budget, since: since < range.from + 2 * MINUTE_MS ? null : since }] : [];
  });
}

function isOf({ organizationId }: BudgetRecord, minutes: readonly TrafficSum[]): boolean {
  return minutes.some((minute) => minute.organizationId === organizationId);
}

const MINUTE_MS = 60_000;
/** Maximum number of refused keys whose budgets are read. */
const MAX_REFUSED = 100;
const NO_BUDGET = "BILLING_BLOCKED";

interface OwnedBudget {
  budget: BudgetRecord;
  /** Name of the key or organization that the budget limits. */
  owner: string;
  currency: string;
}

function budgetCause(
  { budget, owner, currency }: OwnedBudget,
  refusal: Pick<RefusingBudget, "since"> | undefined,
): StatusCause {
  const { id, organizationId, keyId, amount, spent, nearSince, spentSince } = budget;
  const percent = amount === 0n ? 100 : Number((spent * 100n) / amount);
  const state = spentSince !== null ? "spent" : refusal ? "refusing" : "near";
  const since = { spent: spentSince, refusing: refusal?.since ?? nearSince, near: nearSince }[state];
  const key = keyId === null ? "" : `&key=${encodeURIComponent(keyId)}`;
  return {
    kind: "budget",
    severity: "warning",
    subject: id,
    organizationId,
    // The database has 0 for a budget that had reached its level before levels were recorded.
    since: since === 0 ? null : since,
    ...operatorMessage(`cause.budget.${state}`, {
      owner,
      percent,
      ...budgetFigures({ ...budget, currency }),
      state,
    }),
    path: `/money?organization=${encodeURIComponent(organizationId)}${key}`,
  };
}
