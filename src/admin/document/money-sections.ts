import { z } from "zod";
import { formatNanos } from "../../lib/money.ts";
import { AdminError } from "../admin-error.ts";
import { createAlert, removeAlert, updateAlert } from "../alerts/alerts.ts";
import { createBudget, removeBudget, updateBudget } from "../budgets/budgets.ts";
import { namesOf, type Section } from "./section.ts";
import { readInput } from "../input.ts";
import { toView } from "../prices/operations.ts";
import { priceCreationSchema, priceFields, removePrice, setPrice } from "../prices/prices.ts";
import { budgetChangeSchema, budgetCreationSchema } from "../budgets/schema.ts";
import { alertChangeSchema, alertCreationSchema } from "../alerts/schema.ts";

export const prices: Section = {
  kind: "price",
  schema: namesOf(z.strictObject(priceFields), ["effectiveFrom"]),
  async read({ store, clock }) {
    const now = clock.now();
    const all = (await store.prices.list()).filter(
      (row) => row.effectiveUntil === null || row.effectiveUntil > now,
    );
    return new Map(
      all.map((row) => {
        const { id: _, source: __, unit: ___, effectiveUntil: ____, ...item } = toView(row);
        return [row.id, item];
      }),
    );
  },
  async create(context, id, { effectiveFrom, ...item }) {
    const start = typeof effectiveFrom === "string" ? Date.parse(effectiveFrom) : Number.NaN;
    // A price whose start has passed starts now in this installation, because past charges do not change.
    const from = start > context.clock.now() ? { effectiveFrom } : {};
    await setPrice(context, readInput(priceCreationSchema, { ...item, ...from }), { id });
    return null;
  },
  async update(_context, id) {
    throw new AdminError(
      400,
      `prices.${id}`,
      `the price row ${id} never changes: add another one, and leave this one out to end it`,
    );
  },
  remove: async (context, id) => void (await removePrice(context, { id })),
};

export const budgets: Section = {
  kind: "budget",
  schema: namesOf(budgetCreationSchema, []),
  async read({ store }) {
    const all = await store.budgets.list();
    return new Map(
      all.map(({ id, organizationId, keyId, amount, period }) => [
        id,
        { organizationId, keyId, amount: formatNanos(amount), period },
      ]),
    );
  },
  async create(context, id, item) {
    await createBudget(context, readInput(budgetCreationSchema, item), id);
    return null;
  },
  async update(context, id, { before, after }) {
    const isSame = (name: string): boolean => after[name] === before[name];
    if (!["organizationId", "keyId", "period"].every(isSame))
      throw new AdminError(
        400,
        `budgets.${id}`,
        `of the budget ${id} only the amount changes: add another one`,
      );
    await updateBudget(context, id, readInput(budgetChangeSchema, { amount: after["amount"] }));
  },
  remove: removeBudget,
};

export const alerts: Section = {
  kind: "alert",
  schema: namesOf(alertCreationSchema, ["isDisabled"]),
  async read({ store }) {
    const all = await store.alerts.page({ limit: MAX_ALERTS });
    return new Map(
      all.map(({ id, organizationId, name, settings, emails, usesWebhooks, isDisabled }) => [
        id,
        { organizationId, name, settings, emails, usesWebhooks, isDisabled },
      ]),
    );
  },
  async create(context, id, { isDisabled, ...item }) {
    await createAlert(context, readInput(alertCreationSchema, item), id);
    if (isDisabled === true) await updateAlert(context, id, { isDisabled });
    return null;
  },
  async update(context, id, { before, after }) {
    const { organizationId, ...item } = after;
    if (organizationId !== before["organizationId"])
      throw new AdminError(400, `alerts.${id}.organizationId`, "an alert stays in its organization");
    await updateAlert(context, id, readInput(alertChangeSchema, item));
  },
  remove: removeAlert,
};

const MAX_ALERTS = 10_000;
