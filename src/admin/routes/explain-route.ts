import type { z } from "zod";
import { type ApiKey, isUsable } from "../../domain/api-key.ts";
import type { Route } from "../../domain/channel.ts";
import { type ErrorCode } from "../../domain/error-codes.table.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { operatorMessage, type MessageCode, type OperatorMessage } from "../../domain/operator-message.ts";
import type { Price } from "../../domain/price.ts";
import { authenticate } from "../../gateway/access/authenticate.ts";
import { requireModel, routeOf } from "../../gateway/admission/model-access.ts";
import { findPrice, noPrice } from "../../gateway/metering/price.ts";
import type { Directory } from "../../gateway/snapshot.ts";
import { AdminError } from "../admin-error.ts";
import { type AdminContext, requireModel as requireConfigured } from "../context.ts";
import type { Ejection } from "../../gateway/routing/health.ts";
import { mayCallModel, modelSet } from "../organizations/enabled-models.ts";
import { explainTargets, verdictOn, type ExplainedTarget } from "./explained-target.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { priceIndex } from "../prices/price-index.ts";
import { resolveDraft, resolveRoute, type routeDraftSchema } from "./routes.ts";
import { decidesForAll } from "../sign-in/signed-in.ts";
import type { KeyRecord } from "../keys/schema.ts";
import type { OrganizationRecord } from "../organizations/schema.ts";

/** The simulated request. */
interface RouteQuestion {
  organization: string;
  /** Id of a key. Without a key, only the organization's rules apply. */
  key?: string;
  model: string;
  /** A route that is not saved. It replaces the saved route in the dry run. */
  draft?: z.output<typeof routeDraftSchema>;
  /** Targets that are out of service, if a running gateway reports them. */
  health?: readonly Ejection[];
}

/** The explanation of which channel would serve a request. */
export interface RouteExplanation {
  organization: string;
  key: string | null;
  model: string;
  source: "organization" | "default" | "draft";
  /**
   * A channel of the organization's own route that is not configured. The route is then ignored. Null when every
   * channel is configured.
   */
  missingChannel: string | null;
  strategy: Route["strategy"];
  /** Targets in the order of calls. For `weighted`, the most likely first. */
  targets: ExplainedTarget[];
  /** The price in force now; null when there is none. */
  price: Price | null;
  /** The error that the caller would get; null for none. */
  refusal: { code: ErrorCode; message: string; reason: OperatorMessage | null } | null;
  verdict: string;
}

/**
 * Makes a dry run of access, price and routing by the same rules as for real requests. Sends nothing. Throws 404 for an
 * unknown organization or key, 400 for an unknown model, and 400 or 403 for a draft that cannot be saved. Any other
 * refusal is part of the explanation.
 */
export async function explainRoute(
  context: AdminContext,
  question: RouteQuestion,
): Promise<RouteExplanation> {
  const { catalogue, store, clock } = context;
  const { model } = question;
  const known = requireConfigured(catalogue, model, "model");
  const record = await getOrganization(context, question.organization, "organizationId");
  const key = question.key === undefined ? null : await findKey(context, question.key, record.id);
  const own = record.routes[model];
  const ownRoute = question.draft
    ? resolveDraft(context, record, model, question.draft)
    : own && resolveRoute(own, catalogue.channels);
  const missingChannel = typeof ownRoute === "string" ? ownRoute : null;
  const routes = new Map(typeof ownRoute === "object" ? [[model, ownRoute]] : []);
  const organization = {
    ...record,
    models: modelSet(record.models),
    routes,
    budgets: [],
  };
  const directory: Directory = {
    ...catalogue,
    organizations: new Map([[record.id, organization]]),
    price: priceIndex(await store.prices.list({ model }), catalogue.prices),
  };
  const principal = { organization, key: keyOf(record, key) };
  const price = findPrice(directory, record, known, clock.now());
  const route = tryRule(() => routeOf(directory, principal, model));
  const access = tryRule(() => {
    checkKey(directory, principal.key, model, clock.now());
    requireModel(directory, principal, model, ["chat", "messages", "embedding", "image"]);
  });
  const refusal = refusalOf(access) ?? (price ? null : noPrice()) ?? refusalOf(route);
  const isOff = record.isDisabled || !isUsable(principal.key, clock.now());
  const ejections = (question.health ?? []).filter((each) => [null, record.id].includes(each.organization));
  const isShown = decidesForAll(context) || mayCallModel(record, model);
  const targets = "value" in route && isShown ? explainTargets(route.value, ejections) : [];
  return {
    organization: record.id,
    key: key?.id ?? null,
    model,
    source: question.draft ? "draft" : typeof ownRoute === "object" ? "organization" : "default",
    missingChannel,
    strategy: "value" in route ? route.value.strategy : "ordered",
    targets,
    price,
    refusal: refusal && { code: refusal.code, message: refusal.message, reason: reasonOf(refusal, isOff) },
    verdict: refusal ? `Refused with ${refusal.code}: ${refusal.message}` : verdictOn(targets),
  };
}

async function findKey({ store }: AdminContext, id: string, organizationId: string): Promise<KeyRecord> {
  const key = await store.keys.get(id);
  if (key?.organizationId === organizationId) return key;
  throw new AdminError(
    404,
    "keyId",
    operatorMessage("error.organization.key", { organization: organizationId, key: id }),
  );
}

/**
 * Returns the key in the form that authentication uses, as if it were used from an allowed address. Without a record,
 * returns a key without restrictions.
 */
function keyOf({ id: organizationId }: OrganizationRecord, record: KeyRecord | null): ApiKey {
  return {
    id: record?.id ?? "",
    organizationId,
    name: record?.name ?? "",
    prefix: record?.prefix ?? "",
    scopes: new Set(record?.scopes ?? ["ai:*"]),
    models: modelSet(record?.models ?? "*"),
    addresses: null,
    limits: {},
    budgets: [],
    isDisabled: record?.isDisabled ?? false,
    refuseIgnored: false,
    expiresAt: record?.expiresAt ?? null,
  };
}

/** Applies the rules of authentication to a key that is already found. */
function checkKey(directory: Directory, key: ApiKey, model: string, now: number): void {
  const snapshot = { directory: () => directory, key: () => key };
  const authenticator = {
    snapshot,
    isWellFormed: () => true,
    hash: (secret: string) => secret,
    now: () => now,
    unknownKeys: { count: () => () => {} },
  };
  const type = directory.models.get(model)?.type;
  const scope = type === undefined ? null : type === "image" ? "ai:image" : "ai:llm";
  void authenticate(authenticator, { secret: key.id, address: () => "" }, scope);
}

function tryRule<Value>(rule: () => Value): { value: Value } | { refusal: GatewayError } {
  try {
    return { value: rule() };
  } catch (error) {
    if (error instanceof GatewayError) return { refusal: error };
    throw error;
  }
}

/** The reasons of the refusals that a dry run can have, for operators. The caller is told less. */
const REASONS = {
  authentication_required: "refusal.scope",
  model_retired: "refusal.retired",
  model_not_allowed_for_api_key: "refusal.keyModels",
  model_not_authorized_for_org: "refusal.organizationModels",
  MODEL_PRICE_NOT_CONFIGURED: "refusal.price",
  model_not_available_for_routing: "refusal.noTarget",
  dependency_unavailable: "refusal.unusable",
} as const satisfies Partial<Record<ErrorCode, MessageCode>>;

/**
 * A disabled or expired key, a disabled organization and a missing scope have the same code, because callers are not
 * told the difference. For this code, `isOff` is false only when the scope is missing.
 */
function reasonOf({ code }: GatewayError, isOff: boolean): OperatorMessage | null {
  const reasons: Partial<Record<ErrorCode, (typeof REASONS)[keyof typeof REASONS]>> = REASONS;
  const reason = code === "authentication_required" && isOff ? "refusal.key" : reasons[code];
  return reason === undefined ? null : operatorMessage(reason, {});
}

function refusalOf(outcome: { value: unknown } | { refusal: GatewayError }): GatewayError | null {
  return "refusal" in outcome ? outcome.refusal : null;
}
