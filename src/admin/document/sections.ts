import { z } from "zod";
import { AdminError } from "../admin-error.ts";
import type { OperationContext } from "../context.ts";
import { alerts, budgets, prices } from "./money-sections.ts";
import { namesOf, type Section } from "./section.ts";
import { readInput } from "../input.ts";
import { createKey, removeKey, updateKey } from "../keys/keys.ts";
import { createMember, removeMember, updateMember } from "../members/members.ts";
import { createOrganization, updateOrganization } from "../organizations/organizations.ts";
import { targetReasoningSchema } from "../input.ts";
import { isoTime } from "../output.ts";
import { removeRoute, routeSchema, setRoute } from "../routes/routes.ts";
import { keyChangeSchema, keyCreationSchema } from "../keys/schema.ts";
import { organizationChangeSchema, organizationCreationSchema } from "../organizations/schema.ts";
import { memberChangeSchema, memberCreationSchema } from "../members/schema.ts";

const targetSchema = z.strictObject({
  channel: z.string(),
  upstreamModel: z.string(),
  weight: z.int().default(1),
  reasoning: targetReasoningSchema,
});
const routesSchema = z.record(
  z.string(),
  z.strictObject({
    strategy: z.enum(["ordered", "weighted"]).default("ordered"),
    targets: z.array(targetSchema),
  }),
);
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
    await createOrganization(context, readInput(organizationCreationSchema, { id, ...item }));
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
    const change = { ...item, limits: { ...Object.fromEntries(unset), ...Object(limits) } };
    await updateOrganization(context, id, readInput(organizationChangeSchema, change));
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
    if (!Bun.deepEquals(old[model], route))
      await setRoute(context, readInput(routeSchema, { organizationId, model, ...route }));
}

const keys: Section = {
  kind: "key",
  schema: namesOf(keyCreationSchema, ["isDisabled"], ["secret"]),
  async read({ store }) {
    const all = await store.keys.list();
    return new Map(
      all.map((key) => {
        const { organizationId, name, scopes, models, addresses, limits, isDisabled, refuseIgnored } = key;
        const expiresAt = key.expiresAt === null ? null : isoTime(key.expiresAt);
        const bounds = { scopes, models, addresses, limits, isDisabled, refuseIgnored, expiresAt };
        return [key.id, { organizationId, name, ...bounds }];
      }),
    );
  },
  async create(context, id, { isDisabled, ...item }) {
    const { secret } = await createKey(context, readInput(keyCreationSchema, item), { id });
    if (isDisabled === true) await updateKey(context, id, { isDisabled });
    return secret;
  },
  async update(context, id, { before, after }) {
    if (after["organizationId"] !== before["organizationId"])
      throw new AdminError(400, `keys.${id}.organizationId`, "a key stays in its organization");
    const unset = Object.keys(Object(before["limits"])).map((name) => [name, "default"]);
    const limits = { ...Object.fromEntries(unset), ...Object(after["limits"]) };
    // Only changed fields are checked, because an unchanged expiry may lie in the past.
    const changed = Object.entries(after).filter(([name, value]) => !Bun.deepEquals(value, before[name]));
    await updateKey(context, id, readInput(keyChangeSchema, { ...Object.fromEntries(changed), limits }));
  },
  remove: removeKey,
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
    const { member, password } = await createMember(
      context,
      readInput(memberCreationSchema, { name, ...item }),
    );
    if (isDisabled === true) await updateMember(context, member.id, { isDisabled });
    return password;
  },
  async update(context, name, { before, after }) {
    const changed = Object.entries(after).filter(([field, value]) => !Bun.deepEquals(value, before[field]));
    const change = readInput(memberChangeSchema, Object.fromEntries(changed));
    await updateMember(context, await memberId(context, name), change);
  },
  remove: async (context, name) => removeMember(context, await memberId(context, name)),
};

async function memberId({ store }: OperationContext, name: string): Promise<string> {
  const member = await store.members.find({ name });
  if (!member) throw new AdminError(404, `members.${name}`, `there is no member "${name}"`);
  return member.id;
}

/** The sections in the order of creation. Objects are removed in the opposite order. */
export const SECTIONS = { organizations, keys, prices, budgets, alerts, members } as const;
