import type { Fault } from "../fault.ts";

/** Faults that tests of the whole gateway must find. */
export const END_TO_END_FAULTS: readonly Fault[] = [
  {
    name: "a ledger is verified on the thread of requests",
    file: "src/storage/readings/readers.ts",
    find: "    verify: VERIFICATION,\n    oldestMonth",
    replace: "    verify: CALLER,\n    oldestMonth",
    tests: ["test/contracts/storage-readings.test.ts"],
  },
  {
    name: "verifications run beside each other",
    file: "src/server/endpoints/admin.ts",
    find: "{ ofMember: 1, ofAll: 1 }",
    replace: "{ ofMember: 9, ofAll: 9 }",
    tests: ["test/e2e/long-readings.test.ts"],
  },
  {
    name: "an operation that reads everything says that it reads a page",
    file: "src/admin/prices/table.ts",
    find: 'cost: "report",',
    replace: 'cost: "page",',
    tests: ["test/contracts/operation-costs.test.ts"],
  },
  {
    name: "an export leaves no audit row",
    file: "src/admin/exports/exports.ts",
    find: "      await noteExport(context, name, { format, filter, rows, isWhole });\n",
    replace: "",
    tests: ["src/admin/exports/exports.test.ts"],
  },
  {
    name: "a stream that is read to its end without its client is billed again for the same request",
    file: "src/server/entrance/idempotency.ts",
    find: "(goesOn ? void readOn() : reader.cancel(reason))",
    replace: "reader.cancel(reason)",
    tests: ["test/e2e/idempotency.test.ts"],
  },
  {
    name: "a signal has no effect, or the wrong one, while the program starts",
    file: "src/run/serve.ts",
    find: 'process.on("SIGTERM", exit).on("SIGINT", exit);',
    replace: "",
    tests: ["test/e2e/restart.test.ts"],
  },
  {
    name: "a signal that npm forwards ends the drain",
    file: "src/run/workers.ts",
    find: "now - firstAt >= SAME_SIGNAL_MS",
    replace: "true",
    tests: ["test/e2e/npm-start.test.ts"],
  },
  {
    name: "a worker obeys signals to the process group",
    file: "src/run/serve.ts",
    find: "supervisor?.isConnected() === true",
    replace: "false",
    tests: ["test/e2e/workers.test.ts"],
  },
  {
    name: "a vendor is called without a price, end to end",
    file: "src/gateway/metering/price.ts",
    find: "  if (price && isIn(price, unit)) return price;",
    replace: `  if (price && isIn(price, unit)) return price;
  const free = { amount: 0n, source: "default", effectiveFrom: 0 } as const;
  const rates = { perMillion: { input: free, output: free }, perImage: { "1K": { "*": free } } };
  if (!price) return { unit, currency: "USD", ...rates } as never;`,
    tests: ["test/spec/authentication.test.ts"],
  },
  {
    name: "every picture is billed at tier 1K, end to end",
    file: "src/gateway/images.ts",
    find: "const tier = deliveredTier(quote.tier, fitted.size, { width, height });",
    replace: `const tier = deliveredTier("1K", fitted.size, { width, height });`,
    tests: ["test/spec/models-prices-settled.test.ts"],
  },
  {
    name: "pictures that did not come are billed, end to end",
    file: "src/gateway/images.ts",
    find: "    count: images.length,",
    replace: "    count: Math.max(images.length, count),",
    tests: ["test/e2e/images-truth.test.ts"],
  },
  {
    name: "a budget grants what other processes hold, end to end",
    file: "src/storage/budgets/take.ts",
    find: "const rest = budget.amount - budget.spent - budget.held;",
    replace: "const rest = budget.amount - budget.spent;",
    tests: ["test/e2e/budgets-exact.test.ts"],
  },
  {
    name: "a checkpoint is ignored at recovery, end to end",
    file: "src/storage/journal/segments.ts",
    find: "  yield* open.values();",
    replace: "",
    tests: ["test/e2e/restart.test.ts"],
  },
  {
    name: "charges are forgotten during an outage, end to end",
    file: "src/storage/journal/shipper.ts",
    find: "const [batch] = this.#queue;",
    replace: "const batch = this.#queue.shift();",
    tests: ["test/e2e/outage.test.ts"],
  },
  {
    name: "the ledger's thread takes turns with the requests",
    file: "src/storage/thread/do-calls.ts",
    find: "  lowerThisThread();",
    replace: "",
    tests: ["test/e2e/connections.test.ts"],
  },
  {
    name: "the runtime's compilers take turns with the requests",
    file: "src/run/serve.ts",
    find: "  lowerHelperThreads();",
    replace: "",
    tests: ["test/e2e/connections.test.ts"],
  },
];
