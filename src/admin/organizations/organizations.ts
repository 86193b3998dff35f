import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { DEFAULT_ORGANIZATION_SETTINGS } from "../../domain/organization.ts";
import { newId } from "../../lib/ids.ts";
import { meantBy } from "../../lib/suggest.ts";
import { AdminError } from "../admin-error.ts";
import { requireModels, type AdminContext } from "../context.ts";
import { changeLimits, requireVersion } from "../input.ts";
import { toPage, readCursor, type Page } from "../paging.ts";
import { decidesForAll } from "../sign-in/signed-in.ts";
import {
  organizationChangeSchema,
  organizationCreationSchema,
  organizationListSchema,
  type EnabledModels,
  type OrganizationRecord,
} from "./schema.ts";
import type { OrganizationStore } from "./store-port.ts";

/** Creates an organization. All models are enabled unless the input restricts them. Throws 409 when the id exists. */
export async function createOrganization(
  context: AdminContext,
  input: z.output<typeof organizationCreationSchema>,
): Promise<OrganizationRecord> {
  const { id = newId("org"), settings, limits, ...fields } = input;
  checkModels(context, namesOf(fields.models));
  checkFallback(context, settings);
  if (await context.store.organizations.get(id))
    throw new AdminError(409, "id", operatorMessage("error.organization.taken", { id }));
  const organization = {
    ...fields,
    id,
    isDisabled: false,
    settings: { ...DEFAULT_ORGANIZATION_SETTINGS, ...settings },
    limits: changeLimits({}, limits),
    routes: {},
    createdAt: context.clock.now(),
  };
  return await context.store.organizations.create(organization, context.by);
}

/** Returns organizations, oldest first. */
export async function listOrganizations(
  { store }: AdminContext,
  input: z.output<typeof organizationListSchema>,
): Promise<Page<OrganizationRecord>> {
  const { cursor, limit, search } = input;
  const page = { search, after: readCursor(cursor), limit: limit + 1 };
  return toPage(await store.organizations.page(page), limit);
}

/** Returns an organization. Throws 404, with a suggestion, when there is none. */
export async function getOrganization(
  context: Pick<AdminContext, "store">,
  id: string,
  field = "organizationId",
): Promise<OrganizationRecord> {
  const organization = await context.store.organizations.get(id);
  if (organization) return organization;
  const known = (await context.store.organizations.list()).map((each) => each.id);
  const message =
    known.length > 0
      ? operatorMessage("error.missing", { noun: "organization", id, ...meantBy(id, known) })
      : operatorMessage("error.organization.none", { id });
  throw new AdminError(404, field, message);
}

/** Changes the given fields. Throws 403 when a member of only some organizations changes a field in `RESERVED`. */
export async function updateOrganization(
  context: AdminContext,
  id: string,
  input: z.output<typeof organizationChangeSchema>,
): Promise<OrganizationRecord> {
  const { settings, limits, version, ...fields } = input;
  await getOrganization(context, id);
  requireReserved(context, { ...fields, limits });
  checkFallback(context, settings ?? {});
  return await changeOrganization(context, id, (before) => {
    requireVersion(before, version);
    // Only added models are checked, because a listed model may have been removed from the configuration since.
    const named = new Set(namesOf(before.models));
    const added = namesOf(fields.models ?? []).filter((model) => !named.has(model));
    checkModels(context, added);
    return {
      ...fields,
      settings: { ...before.settings, ...settings },
      limits: changeLimits(before.limits, limits ?? {}),
    };
  });
}

/**
 * Replaces the fields of an organization that `change` returns for its current state. Throws 404 for an unknown
 * organization.
 */
export async function changeOrganization(
  context: Pick<AdminContext, "store" | "by">,
  id: string,
  change: Parameters<OrganizationStore["update"]>[1],
): Promise<OrganizationRecord> {
  const after = await context.store.organizations.update(id, change, context.by);
  return after ?? (await getOrganization(context, id));
}

/** Enables models. `"*"` enables all models, including models that are added later. */
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

/** Disables models. If all models were enabled, all other models stay enabled, including models added later. */
export async function disableModels(
  context: AdminContext,
  id: string,
  models: readonly string[],
): Promise<OrganizationRecord> {
  return await changeOrganization(context, id, ({ models: before }) => {
    const named = before === "*" ? [] : Array.isArray(before) ? before : before.except;
    // Models that are listed already are not checked, because they may have been removed from the configuration since.
    for (const model of models) if (!named.includes(model)) requireModels(context.catalogue, model, "models");
    if (Array.isArray(before)) return { models: before.filter((model) => !models.includes(model)) };
    return { models: allExcept([...new Set([...named, ...models])]) };
  });
}

/** Returns the models that a list names, either as allowed or as excepted. */
function namesOf(models: EnabledModels): string[] {
  if (models === "*") return [];
  return Array.isArray(models) ? models : models.except;
}

function allExcept(models: string[]): EnabledModels {
  return models.length === 0 ? "*" : { except: models };
}

function checkModels(context: AdminContext, models: readonly string[] | "*"): void {
  if (models !== "*") for (const model of models) requireModels(context.catalogue, model, "models");
}

/** Fields that only a caller with access to all organizations may change. */
const RESERVED = ["isDisabled", "models", "limits"] as const;

function requireReserved(
  context: AdminContext,
  change: { readonly [Field in (typeof RESERVED)[number]]?: unknown },
): void {
  const field = RESERVED.find((each) => change[each] !== undefined);
  if (field !== undefined && !decidesForAll(context))
    throw new AdminError(403, field, operatorMessage("error.reach.field", { field }));
}

function checkFallback(
  { catalogue }: Pick<AdminContext, "catalogue">,
  { fallbackChannel }: { fallbackChannel?: string | null | undefined },
): void {
  if (!fallbackChannel || catalogue.channels.has(fallbackChannel)) return;
  const suggestion = meantBy(fallbackChannel, catalogue.channels.keys());
  const message = operatorMessage("error.channel.unknown", { channel: fallbackChannel, ...suggestion });
  throw new AdminError(400, "settings.fallbackChannel", message);
}
