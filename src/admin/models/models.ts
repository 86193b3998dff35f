import { operatorMessage } from "../../domain/operator-message.ts";
import type { z } from "zod";
import { formatPath } from "../../domain/schema-problems.ts";
import { meantBy } from "../../lib/suggest.ts";
import { AdminError } from "../admin-error.ts";
import {
  readConfigured,
  readWith,
  requireChangeable,
  requireVersion,
  storedEntry,
  type ConfiguredValues,
} from "../configuration/configured.ts";
import type { ConfiguredModel, EntryValue } from "../configuration/store-port.ts";
import type { OperationContext } from "../context.ts";
import { modelChangeSchema, modelCreationSchema, modelsInputSchema } from "./schema.ts";
import { viewModel, type ModelView } from "./view.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { priceIndex } from "../prices/price-index.ts";

/** Returns models of all sources, ordered by id, including models that are not served. */
export async function listModels(
  context: OperationContext,
  input: z.output<typeof modelsInputSchema>,
): Promise<{ data: ModelView[]; next: string | null }> {
  const { id, search, type, origin, isRoutable, organizationId, cursor, limit } = input;
  const configured = await readConfigured(context);
  const matches = [...configured.state.models.values()]
    .filter((model) => id === undefined || model.id === id)
    .filter((model) => type === undefined || model.model.type === type)
    .filter((model) => origin === undefined || model.origin === origin)
    .filter(
      (model) =>
        isRoutable === undefined || (!model.isDisabled && model.route.targets.length > 0) === isRoutable,
    )
    .filter((model) => search === undefined || mentions(model, search))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .filter((model) => cursor === undefined || model.id > cursor);
  const page = matches.slice(0, limit);
  const view = await viewer(context, configured, organizationId);
  return { data: page.map(view), next: matches.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/** Returns one model. Throws 404 for an unknown id. */
export async function getModel(
  context: OperationContext,
  id: string,
  organizationId?: string,
): Promise<ModelView> {
  const configured = await readConfigured(context);
  return (await viewer(context, configured, organizationId))(requireModelOf(configured, id));
}

/** Adds a model of the operator's own. Throws 400 for incomplete or invalid input, and 409 for an id that exists. */
export async function createModel(
  context: OperationContext,
  input: z.output<typeof modelCreationSchema>,
): Promise<ModelView> {
  const { id, ...fields } = input;
  const configured = await readConfigured(context);
  if (configured.state.models.has(id) || storedEntry(configured, "model", id)) throw taken(id);
  const value = changeModelEntry({}, fields);
  await readWith(context, configured, { kind: "model", id, value }, fieldOf(id));
  await store(context, id, value);
  return await getModel(context, id);
}

/**
 * Changes the fields that the input contains. For a shipped model, stores an entry with the differences from the
 * catalogue. Throws 409 for a model of the configuration file.
 */
export async function updateModel(
  context: OperationContext,
  id: string,
  input: z.output<typeof modelChangeSchema>,
): Promise<ModelView> {
  const { version, ...change } = input;
  const configured = await readConfigured(context);
  requireChangeable("model", id, requireModelOf(configured, id).origin);
  const entry = storedEntry(configured, "model", id);
  if (entry) requireVersion(entry, version ?? undefined);
  else if (version !== undefined && version !== null)
    throw new AdminError(409, "version", operatorMessage("error.changed", {}));
  const value = changeModelEntry(entry?.value ?? {}, change);
  await readWith(context, configured, { kind: "model", id, value }, fieldOf(id));
  if (entry) {
    const changeNow = (now: typeof entry): EntryValue => {
      requireVersion(now, Number(entry.revision));
      return value;
    };
    if (!(await context.store.configuration.update(entry, changeNow, context.by)))
      throw unknown(configured, id);
  } else await store(context, id, value);
  return await getModel(context, id);
}

/**
 * Removes a model from the database. A shipped model gets the catalogue's values back. Throws 404 for an unknown model,
 * and 409 for a model that is not stored.
 */
export async function removeModel(context: OperationContext, id: string): Promise<void> {
  const configured = await readConfigured(context);
  const entry = storedEntry(configured, "model", id);
  if (!entry) {
    requireChangeable("model", id, requireModelOf(configured, id).origin);
    throw new AdminError(409, null, operatorMessage("error.model.shipped", { id }));
  }
  if (!(await context.store.configuration.remove(entry, context.by))) throw unknown(configured, id);
}

type ModelChange = Omit<z.output<typeof modelChangeSchema>, "version">;

/** Returns the stored form of a model after a change, as in the configuration file. */
function changeModelEntry(
  before: EntryValue,
  { displayName, isDisabled, route, definition = {} }: ModelChange,
): EntryValue {
  const after = {
    ...before,
    ...definition,
    ...(displayName !== undefined && { display_name: displayName }),
    ...(isDisabled !== undefined && { enabled: isDisabled ? false : null }),
    ...(route !== undefined && { route: route && toFileRoute(route) }),
  };
  return Object.fromEntries(Object.entries(after).filter(([, value]) => value !== null));
}

function toFileRoute({ strategy, targets }: NonNullable<ModelChange["route"]>): object {
  return {
    strategy,
    targets: targets.map(({ channel, upstreamModel, weight, reasoning }) => ({
      channel,
      ...(upstreamModel !== undefined && { upstream_model: upstreamModel }),
      weight,
      ...(reasoning !== undefined && { reasoning }),
    })),
  };
}

async function store({ store, by, clock }: OperationContext, id: string, value: EntryValue) {
  const entry = { kind: "model", id, value, createdAt: clock.now() } as const;
  if (!(await store.configuration.create(entry, by))) throw taken(id);
}

/**
 * Returns a function that translates a path of the stored form into the input's field name. The input has its own names
 * for some fields; all other fields are below `definition`.
 */
function fieldOf(id: string): (path: string) => string {
  const own = formatPath(["models", id]);
  return (path) => {
    const rest = (path.startsWith(own) ? path.slice(own.length) : path).replace(/^\./, "");
    if (rest === "") return "";
    if (rest.startsWith("route")) return rest.replace("upstream_model", "upstreamModel");
    return rest === "display_name" ? "displayName" : `definition.${rest}`;
  };
}

function requireModelOf(configured: ConfiguredValues, id: string): ConfiguredModel {
  const model = configured.state.models.get(id);
  if (!model) throw unknown(configured, id);
  return model;
}

function mentions({ id, model }: ConfiguredModel, search: string): boolean {
  const wanted = search.toLowerCase();
  return [id, model.displayName, model.ownedBy].some((text) => text.toLowerCase().includes(wanted));
}

function taken(id: string): AdminError {
  return new AdminError(409, "id", operatorMessage("error.taken", { noun: "model", id }));
}

function unknown({ state }: ConfiguredValues, id: string): AdminError {
  const suggestion = meantBy(id, state.models.keys());
  return new AdminError(404, "id", operatorMessage("error.missing", { noun: "model", id, ...suggestion }));
}

/**
 * Returns a function that makes the view of a model. The view has the price that the organization pays. Without an
 * organization, it has the default price in the currency of the model's configured price, or in USD.
 */
async function viewer(context: OperationContext, configured: ConfiguredValues, organizationId?: string) {
  const { store, clock } = context;
  const payer = organizationId === undefined ? null : await getOrganization(context, organizationId);
  const rows = await store.prices.list(payer === null ? { organizationId: null } : {});
  const stored = rows.filter((row) => row.organizationId === null || row.organizationId === payer?.id);
  const { models, catalogue } = configured.state;
  const prices = priceIndex(stored, { get: (id) => models.get(id)?.price ?? catalogue.prices.get(id) });
  return (model: ConfiguredModel): ModelView =>
    viewModel(configured, model, { prices, payer, now: clock.now() });
}
