/** Budgets, limits, ledger. */
export const money = {
  title: "Money",
};
