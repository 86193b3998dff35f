import { z } from "zod";
import { DEFAULT_ORGANIZATION_SETTINGS } from "../domain/organization.ts";
import { newId } from "../lib/ids.ts";
import { didYouMean } from "../lib/suggest.ts";
import { AdminError } from "./admin-error.ts";
import { requireModels, type AdminContext } from "./context.ts";
import { changeLimits, currencySchema, limitsSchema, nameSchema, readInput } from "./input.ts";
import type { EnabledModels, OrganizationRecord, OrganizationStore } from "./ports.ts";

/** Creates an organization with all models enabled unless it names some. Throws 409 when the id is taken. */
export async function createOrganization(context: AdminContext, input: unknown): Promise<OrganizationRecord> {
  const { id = newId("org"), settings, limits, ...fields } = readInput(creationSchema, input);
  checkModels(context, fields.models);
  checkFallback(context, settings);
  if (await context.store.organizations.get(id))
    throw new AdminError(409, "id", `there is already an organization "${id}"`);
  const organization: OrganizationRecord = {
    ...fields,
    id,
    isDisabled: false,
    settings: { ...DEFAULT_ORGANIZATION_SETTINGS, ...settings },
    limits: changeLimits({}, limits),
    routes: {},
    createdAt: context.clock.now(),
  };
  await context.store.organizations.create(organization, context.by);
  return organization;
}

/** The organization, or a 404 that suggests the one that was meant. */
export async function getOrganization(
  context: Pick<AdminContext, "store">,
  id: string,
  field = "organizationId",
): Promise<OrganizationRecord> {
  const organization = await context.store.organizations.get(id);
  if (organization) return organization;
  const known = (await context.store.organizations.list()).map((each) => each.id);
  const suggestion =
    known.length > 0 ? didYouMean(id, known) : `; there is none yet: the first start makes "default"`;
  throw new AdminError(404, field, `there is no organization "${id}"${suggestion}`);
}

/** Changes what the input names and leaves everything else as it is. */
export async function updateOrganization(
  context: AdminContext,
  id: string,
  input: unknown,
): Promise<OrganizationRecord> {
  const { settings, limits, ...fields } = readInput(changeSchema, input);
  checkFallback(context, settings ?? {});
  return await changeOrganization(context, id, (before) => ({
    ...fields,
    settings: { ...before.settings, ...settings },
    limits: changeLimits(before.limits, limits ?? {}),
  }));
}

/** Changes the organization in its present state. Throws 404 for an unknown one. */
export async function changeOrganization(
  context: Pick<AdminContext, "store" | "by">,
  id: string,
  change: Parameters<OrganizationStore["update"]>[1],
): Promise<OrganizationRecord> {
  const after = await context.store.organizations.update(id, change, context.by);
  return after ?? (await getOrganization(context, id));
}

/** Enables models; `"*"` enables all, later ones too. */
export async function enableModels(
  context: AdminContext,
  id: string,
  models: readonly string[] | "*",
): Promise<OrganizationRecord> {
  checkModels(context, models);
  return await changeOrganization(context, id, ({ models: before }) => {
    if (before === "*" || models === "*") return { models: "*" };
    if (Array.isArray(before)) return { models: [...new Set([...before, ...models])] };
    return { models: allExcept(before.except.filter((model) => !models.includes(model))) };
  });
}

/** Disables models. An organization that had all keeps all others, later ones too. */
export async function disableModels(
  context: AdminContext,
  id: string,
  models: readonly string[],
): Promise<OrganizationRecord> {
  return await changeOrganization(context, id, ({ models: before }) => {
    const named = before === "*" ? [] : Array.isArray(before) ? before : before.except;
    // A model may have left the configuration since it was named.
    for (const model of models) if (!named.includes(model)) requireModels(context.catalogue, model, "models");
    if (Array.isArray(before)) return { models: before.filter((model) => !models.includes(model)) };
    return { models: allExcept([...new Set([...named, ...models])]) };
  });
}

function allExcept(models: string[]): EnabledModels {
  return models.length === 0 ? "*" : { except: models };
}

const settingsSchema = z
  .strictObject({
    forceImageUrls: z.boolean().nullable(),
    nativeImageUrls: z.boolean(),
    fallbackAfterMs: z.int().min(1000).max(3_600_000).nullable(),
    fallbackChannel: z.string().nullable(),
    linkHours: z.number().min(0.01).max(168).nullable(),
    callerGone: z.enum(["abort", "drain"]),
    failOverRefusals: z.boolean(),
  })
  .partial();

const modelsSchema = z.union([z.literal("*"), z.array(z.string())], {
  error: 'must be "*" or a list of model ids',
});

const creationSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, {
      error: "must be lower-case letters, digits, - and _ only, at most 64",
    })
    .optional(),
  name: nameSchema,
  currency: currencySchema.default("USD"),
  models: modelsSchema.default("*"),
  settings: settingsSchema.default({}),
  limits: limitsSchema.default({}),
});

const changeSchema = z.strictObject({
  name: nameSchema.optional(),
  isDisabled: z.boolean().optional(),
  settings: settingsSchema.optional(),
  limits: limitsSchema.optional(),
});

function checkModels(context: AdminContext, models: readonly string[] | "*"): void {
  if (models !== "*") for (const model of models) requireModels(context.catalogue, model, "models");
}

function checkFallback(
  { catalogue }: Pick<AdminContext, "catalogue">,
  { fallbackChannel }: { fallbackChannel?: string | null | undefined },
): void {
  if (!fallbackChannel || catalogue.channels.has(fallbackChannel)) return;
  const suggestion = didYouMean(fallbackChannel, catalogue.channels.keys());
  const message = `"${fallbackChannel}" is not a configured channel${suggestion}`;
  throw new AdminError(400, "settings.fallbackChannel", message);
}
