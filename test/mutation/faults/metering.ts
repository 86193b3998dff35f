import type { Fault } from "../fault.ts";

const BILLING = "src/gateway/metering/billing.ts";
const ENTRY = "src/gateway/metering/entry.ts";
const POLICY = "src/gateway/metering/usage-policy.ts";
const ESTIMATE = "src/gateway/metering/estimate.ts";
const LEASES = "src/gateway/metering/budget-leases.ts";
const LEASE_TABLE = "src/gateway/metering/lease-table.ts";
const EXHAUSTION = "src/gateway/metering/exhaustion-cache.ts";

const billing = ["src/gateway/metering/billing.test.ts"];
const entry = ["src/gateway/metering/entry.test.ts"];
const policy = ["src/gateway/metering/usage-policy.test.ts"];
const leases = ["src/gateway/metering/budget-leases.test.ts"];
const estimate = ["src/gateway/metering/estimate.test.ts"];

/** Holds, charges and the leases of budgets in one process. */
export const METERING_FAULTS: readonly Fault[] = [
  {
    name: "a settled charge keeps its hold",
    file: BILLING,
    find: "this.#leases.settle(hold, entry.amount);",
    replace: "void entry.amount;",
    tests: billing,
  },
  {
    name: "a charge is settled without a journal record",
    file: BILLING,
    find: `this.#journal.append({ type: "charge", entry });`,
    replace: "",
    tests: billing,
  },
  {
    name: "a charge that cannot be recorded is a success",
    file: BILLING,
    find: "throw unavailable(cause);",
    replace: "void cause;",
    tests: billing,
  },
  {
    name: "a released request keeps its hold",
    file: BILLING,
    find: "this.#leases.settle(hold, 0n);",
    replace: "void hold;",
    tests: billing,
  },
  {
    name: "a journal that cannot be written admits requests",
    file: BILLING,
    find: `if (!this.#journal.isWritable()) throw unavailable("the journal cannot be written");`,
    replace: "",
    tests: billing,
  },
  {
    name: "the budget of a key is not held",
    file: BILLING,
    find: "[...organization.budgets, ...key.budgets]",
    replace: "[...organization.budgets]",
    tests: billing,
  },
  {
    name: "a spent budget is reported as held",
    file: BILLING,
    find: `if (refusal === "spent") {`,
    replace: `if (refusal === "held") {`,
    tests: billing,
  },
  {
    name: "a refused checkpoint ends its stream",
    file: BILLING,
    find: `    } catch {
      // A disk that is full now`,
    replace: `    } catch (cause) {
      throw unavailable(cause);
      // A disk that is full now`,
    tests: billing,
  },
  {
    name: "a charge above its hold has no flag",
    file: ENTRY,
    find: "hold.leases.length > 0 && amount > hold.amount",
    replace: "hold.leases.length > 0 && amount < 0n",
    tests: entry,
  },
  {
    name: "an orphan costs what was delivered, not what was requested",
    file: ENTRY,
    find: "costOf(price, requested, ambiguous)",
    replace: "costOf(price, usage, ambiguous)",
    tests: entry,
  },
  {
    name: "an orphan costs nothing",
    file: ENTRY,
    find: "filter(({ isAmbiguous }) => isAmbiguous)",
    replace: "filter(({ isAmbiguous }) => isAmbiguous && false)",
    tests: entry,
  },
  {
    name: "a usage without a rate is free",
    file: ENTRY,
    find: "if (found) return found;",
    replace: `return found ?? { amount: 0n, source: "default" };`,
    tests: entry,
  },
  {
    name: "a charge larger than a ledger takes is accepted",
    file: ENTRY,
    find: "found.amount > MAX_CHARGE",
    replace: "found.amount < 0n",
    tests: entry,
  },
  {
    name: "an entry has the time of its charge as that of its admission",
    file: ENTRY,
    find: "    admittedAt,\n    usage,\n    amount,",
    replace: "    admittedAt: at,\n    usage,\n    amount,",
    tests: entry,
  },
  {
    name: "the id of a charge is the caller's request id",
    file: ENTRY,
    find: "id: context.id,",
    replace: "id: context.requestId,",
    tests: entry,
  },
  {
    name: "a charge is booked on no budget",
    file: ENTRY,
    find: "budgets: hold.leases.map(({ budget }) => budget),",
    replace: "budgets: [],",
    tests: entry,
  },
  {
    name: "an estimated charge has no flag",
    file: ENTRY,
    find: `if (usage.unit === "token" && usage.source === "estimated") allFlags.push("estimated");`,
    replace: "",
    tests: entry,
  },
  {
    name: "input beyond what the request can cause is billed",
    file: POLICY,
    find: "const isOverInput = sumTokens(input.tokens) > bounds.maxInput;",
    replace: "const isOverInput = false;",
    tests: policy,
  },
  {
    name: "output beyond what the request can cause is billed",
    file: POLICY,
    find: "const isOverOutput = sumTokens(output.tokens) > bounds.maxOutput;",
    replace: "const isOverOutput = false;",
    tests: policy,
  },
  {
    name: "a reported input of zero is billed as zero",
    file: POLICY,
    find: "report?.hasInput && sumTokens(tokens) > 0",
    replace: "report?.hasInput",
    tests: policy,
  },
  {
    name: "a cut stream is billed by its early report",
    file: POLICY,
    find: "const isComplete = missing === 0 || (isReportFinal && visible > 0);",
    replace: "const isComplete = isReportFinal || visible >= 0;",
    tests: policy,
  },
  {
    name: "a missing output is billed as zero",
    file: POLICY,
    find: "output: (tokens.output ?? 0) + missing",
    replace: "output: tokens.output ?? 0",
    tests: policy,
  },
  {
    name: "the bound of the output ignores the number of choices",
    file: POLICY,
    find: "+ REASONING_MARGIN) * choices",
    replace: "+ REASONING_MARGIN)",
    tests: policy,
  },
  {
    name: "billed tokens pass what a ledger can hold",
    file: POLICY,
    find: "Math.min(maxOutput, MAX_BILLED_TOKENS)",
    replace: "maxOutput",
    tests: policy,
  },
  {
    name: "the hold of a text request has its cheapest category",
    file: ESTIMATE,
    find: "next > max ? next : max",
    replace: "next < max ? next : max",
    tests: estimate,
  },
  {
    name: "a hold for text leaves out the output",
    file: ESTIMATE,
    find: "BigInt(outputTokens) * dearest(price, OUTPUT_CATEGORIES, inputTokens);",
    replace: "BigInt(outputTokens) * 0n;",
    tests: estimate,
  },
  {
    name: "the covered output leaves out the input",
    file: ESTIMATE,
    find: "1_000_000n - BigInt(inputTokens) * input;",
    replace: "1_000_000n - BigInt(inputTokens) * (input - input);",
    tests: estimate,
  },
  {
    name: "what was spent can be held again",
    file: LEASES,
    find: "lease.available += amount - spent;",
    replace: "lease.available += amount;",
    tests: leases,
  },
  {
    name: "what was not spent cannot be held again",
    file: LEASES,
    find: "lease.available += amount - spent;",
    replace: "",
    tests: leases,
  },
  {
    name: "a hold takes more than a lease has",
    file: LEASES,
    find: "if (!lease || lease.available < floor) return null;",
    replace: "if (!lease) return null;",
    tests: leases,
  },
  {
    name: "a settled hold stays promised",
    file: LEASES,
    find: "lease.promised -= amount;",
    replace: "",
    tests: leases,
  },
  {
    name: "what a failed call had reserved is lost",
    file: LEASES,
    find: "      unreserve(reserves);\n      this.#unavailableUntil",
    replace: "      this.#unavailableUntil",
    tests: leases,
  },
  {
    name: "what a refused request had reserved is lost",
    file: LEASES,
    find: "      unreserve(reserves);\n      const needed",
    replace: "      const needed",
    tests: leases,
  },
  {
    name: "a lease is used after the store counts it as in doubt",
    file: LEASE_TABLE,
    find: "export const USABLE_MS = 14 * 60_000;",
    replace: "export const USABLE_MS = 16 * 60_000;",
    tests: leases,
  },
  {
    name: "the hold of a long request is by the ordinary prices",
    file: ESTIMATE,
    find: ".filter((above) => above < longest)",
    replace: ".filter((above) => above > longest)",
    tests: estimate,
  },
  {
    name: "the hold forgets what a vendor may add to the input",
    file: ESTIMATE,
    find: "inputTokens + INPUT_MARGIN",
    replace: "inputTokens + INPUT_MARGIN - INPUT_MARGIN",
    tests: estimate,
  },
  {
    name: "a lease is spent after its budget was lowered",
    file: LEASE_TABLE,
    find: "this.#unconfirmed.add(lease);",
    replace: "",
    tests: leases,
  },
  {
    name: "a grant from before a change confirms a lease",
    file: LEASE_TABLE,
    find: "if (lease.changes === changes) this.#unconfirmed.delete(lease);",
    replace: "if (changes >= 0) this.#unconfirmed.delete(lease);",
    tests: leases,
  },
  {
    name: "the debt of a charge above its hold counts twice",
    file: LEASE_TABLE,
    find: "lease.usableUntil <= now || lease.available < 0n",
    replace: "lease.usableUntil <= now",
    tests: leases,
  },
  {
    name: "what was given back stays available",
    file: LEASE_TABLE,
    find: "    lease.available = 0n;",
    replace: "",
    tests: leases,
  },
  {
    name: "a renewal overtakes a call that is under way",
    file: LEASE_TABLE,
    find: "if (lease.callsUnderWay > 0 || lease.calls !== before) continue;",
    replace: "",
    tests: leases,
  },
  {
    name: "a renewal forgets no lease that was written off",
    file: LEASE_TABLE,
    find: "if (acquired === undefined) this.forget(lease);",
    replace: "if (acquired === undefined) continue;",
    tests: leases,
  },
  {
    name: "a remembered exhaustion refuses smaller requests",
    file: EXHAUSTION,
    find: " || needed < exhaustion.needed",
    replace: "",
    tests: leases,
  },
];
