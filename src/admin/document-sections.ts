import { z } from "zod";
import { formatNanos } from "../lib/money.ts";
import { AdminError } from "./admin-error.ts";
import { createBudget, budgetCreationSchema, removeBudget, updateBudget } from "./budgets.ts";
import type { OperationContext } from "./context.ts";
import type { Change } from "./document-change.ts";
import { createKey, keyCreationSchema, removeKey, updateKey } from "./keys.ts";
import { createMember, memberCreationSchema, removeMember, updateMember } from "./members.ts";
import { createOrganization, organizationCreationSchema, updateOrganization } from "./organizations.ts";
import { isoTime } from "./output.ts";
import { toView } from "./price-operations.ts";
import { priceFields, removePrice, setPrice } from "./prices.ts";
import { removeRoute, setRoute } from "./routes.ts";

type Item = Record<string, unknown>;

/** One kind of records in the document, over the functions that administration has for it. */
export interface Section {
  kind: Change["kind"];
  /** Strict: an unknown field is refused. */
  schema: z.ZodType<Item>;
  read(context: OperationContext): Promise<Map<string, Item>>;
  /** Returns a secret that is shown only now, where there is one. */
  create(context: OperationContext, id: string, item: Item): Promise<string | null>;
  update(context: OperationContext, id: string, change: { before: Item; after: Item }): Promise<void>;
  /** Absent where such an object is never removed. */
  remove?(context: OperationContext, id: string): Promise<void>;
}

const targetSchema = z.strictObject({
  channel: z.string(),
  upstreamModel: z.string(),
  weight: z.int().default(1),
});
const routesSchema = z.record(
  z.string(),
  z.strictObject({
    strategy: z.enum(["ordered", "weighted"]).default("ordered"),
    targets: z.array(targetSchema),
  }),
);
/** Fields of a record are checked by its functions; here only their names. */
const namesOf = (schema: z.ZodObject, extra: readonly string[], without: readonly string[] = []) => {
  const names = [...Object.keys(schema.shape).filter((name) => !without.includes(name)), ...extra];
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
};

const organizations: Section = {
  kind: "organization",
  schema: namesOf(organizationCreationSchema, ["isDisabled", "routes"], ["id"]),
  async read({ store }) {
    const all = await store.organizations.list();
    return new Map(
      all.map(({ id, name, currency, isDisabled, models, settings, limits, routes }) => [
        id,
        { name, currency, isDisabled, models, settings: { ...settings }, limits, routes },
      ]),
    );
  },
  async create(context, id, { isDisabled, routes = {}, ...item }) {
    await createOrganization(context, { id, ...item });
    if (isDisabled === true) await updateOrganization(context, id, { isDisabled });
    await setRoutes(context, id, {}, routes);
    return null;
  },
  async update(context, id, { before, after }) {
    if (after["currency"] !== before["currency"])
      throw new AdminError(
        400,
        `organizations.${id}.currency`,
        "the currency of an organization never changes",
      );
    const { currency: _, routes, limits, ...item } = after;
    const unset = Object.keys(Object(before["limits"])).map((name) => [name, "default"]);
    await updateOrganization(context, id, {
      ...item,
      limits: { ...Object.fromEntries(unset), ...Object(limits) },
    });
    await setRoutes(context, id, before["routes"], routes);
  },
};

async function setRoutes(context: OperationContext, organizationId: string, before: unknown, after: unknown) {
  const [old, wanted] = [routesSchema.parse(before), routesSchema.safeParse(after)];
  if (!wanted.success)
    throw new AdminError(
      400,
      `organizations.${organizationId}.routes`,
      "each route needs targets with channel and upstreamModel",
    );
  for (const model of Object.keys(old))
    if (!Object.hasOwn(wanted.data, model)) await removeRoute(context, organizationId, model);
  for (const [model, route] of Object.entries(wanted.data))
    if (!Bun.deepEquals(old[model], route)) await setRoute(context, { organizationId, model, ...route });
}

const keys: Section = {
  kind: "key",
  schema: namesOf(keyCreationSchema, ["isDisabled"], ["secret"]),
  async read({ store }) {
    const all = await store.keys.list();
    return new Map(
      all.map(({ id, organizationId, name, scopes, models, addresses, limits, isDisabled, expiresAt }) => [
        id,
        {
          organizationId,
          name,
          scopes,
          models,
          addresses,
          limits,
          isDisabled,
          expiresAt: expiresAt === null ? null : isoTime(expiresAt),
        },
      ]),
    );
  },
  async create(context, id, { isDisabled, ...item }) {
    const { secret } = await createKey(context, item, id);
    if (isDisabled === true) await updateKey(context, id, { isDisabled });
    return secret;
  },
  async update(context, id, { before, after }) {
    if (after["organizationId"] !== before["organizationId"])
      throw new AdminError(400, `keys.${id}.organizationId`, "a key stays in its organization");
    const unset = Object.keys(Object(before["limits"])).map((name) => [name, "default"]);
    const limits = { ...Object.fromEntries(unset), ...Object(after["limits"]) };
    // An expiry that has passed stays as it is; only a new one must lie ahead.
    const changed = Object.entries(after).filter(([name, value]) => !Bun.deepEquals(value, before[name]));
    await updateKey(context, id, { ...Object.fromEntries(changed), limits });
  },
  remove: removeKey,
};

const prices: Section = {
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
    // One of another installation that holds already holds from now on: what was billed does not change.
    const from = start > context.clock.now() ? { effectiveFrom } : {};
    await setPrice(context, { ...item, ...from }, { id });
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

const budgets: Section = {
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
    await createBudget(context, item, id);
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
    await updateBudget(context, id, { amount: after["amount"] });
  },
  remove: removeBudget,
};

const members: Section = {
  kind: "member",
  schema: namesOf(memberCreationSchema, ["isDisabled"], ["name", "password"]),
  async read({ store }) {
    const all = await store.members.list();
    return new Map(
      all.map(({ name, email, role, organizations, isDisabled }) => [
        name,
        { email, role, organizations, isDisabled },
      ]),
    );
  },
  async create(context, name, { isDisabled, ...item }) {
    const { member, password } = await createMember(context, { name, ...item });
    if (isDisabled === true) await updateMember(context, member.id, { isDisabled });
    return password;
  },
  async update(context, name, { before, after }) {
    const changed = Object.entries(after).filter(([field, value]) => !Bun.deepEquals(value, before[field]));
    await updateMember(context, await memberId(context, name), Object.fromEntries(changed));
  },
  remove: async (context, name) => removeMember(context, await memberId(context, name)),
};

async function memberId({ store }: OperationContext, name: string): Promise<string> {
  const member = await store.members.find({ name });
  if (!member) throw new AdminError(404, `members.${name}`, `there is no member "${name}"`);
  return member.id;
}

/** In the order in which they are created; they are removed in the opposite one. */
export const SECTIONS = { organizations, keys, prices, budgets, members } as const;
