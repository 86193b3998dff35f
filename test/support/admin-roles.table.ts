import type { Role } from "../../src/admin/roles.ts";

/** Objects of the organization `acme`, whose ids a member of another organization uses. */
export interface Foreign {
  organizationId: string;
  keyId: string;
  budgetId: string;
  priceId: string;
  chargeId: string;
  requestId: string;
  jobId: string;
  webhookId: string;
  deliveryId: string;
  alertId: string;
  memberId: string;
  tokenId: string;
  sessionId: string;
  model: string;
}

/**
 * Inputs with which a member of another organization tries to reach the objects of `acme`, and the result. `hidden`:
 * 404 for each input. `nothing`: 404, or 200 without data of `acme`. `refused`: 403, for objects that all organizations
 * share and for rights that the member lacks. `stream`: events of the member's own organizations, which have a separate
 * test. `own`: the member's own data or public data, without an id of `acme`.
 */
type Reaching =
  | { gets: "hidden" | "nothing" | "refused"; inputs: (foreign: Foreign) => object[] }
  | { gets: "own" | "stream" };

interface Row {
  /** The lowest role that may call the route. */
  role: Role;
  foreign: Reaching;
}

const OWN = { gets: "own" } as const;
const refused = (inputs: (foreign: Foreign) => object[]): Reaching => ({ gets: "refused", inputs });
const REFUSED = refused(() => [{}]);
const hidden = (inputs: (foreign: Foreign) => object[]): Reaching => ({ gets: "hidden", inputs });
const nothing = (inputs: (foreign: Foreign) => object[]): Reaching => ({ gets: "nothing", inputs });

const row = (role: Role, foreign: Reaching): Row => ({ role, foreign });

const PRICE = { model: "sandbox-chat", perMillion: { input: "1", output: "1" } };
/** The calling member's organization, which must not use the model `vendor-chat`. */
const OF_SPIES = { organizationId: "spies" };
const DENIED = { model: "vendor-chat" };
const TARGETS = [{ channel: "sandbox", upstreamModel: "sandbox-chat", weight: 1 }];
const CORRECTION = { ...PRICE, from: "2020-01-01T00:00:00Z", to: "2999-01-01T00:00:00Z", reason: "tried" };
/** A rule that reports a budget as soon as 1 percent of it is spent. */
export const ALERT = {
  name: "acme alert",
  settings: { kind: "budget", percents: [1], budgetId: null },
  emails: ["acme@acme.example"],
};
const SOON = () => new Date(Date.now() + 3_600_000).toISOString();

/** Rows of all operations, by id, and of other routes for members, by name. */
export const ADMIN_ROUTES: Readonly<Record<string, Row>> = {
  "session.get": row("viewer", OWN),
  "session.remove": row("viewer", OWN),
  "sessions.list": row("viewer", OWN),
  "sessions.remove": row(
    "viewer",
    hidden(({ sessionId: id }) => [{ id }]),
  ),
  "sessions.removeAll": row("viewer", OWN),
  "password.change": row("viewer", OWN),
  "totp.begin": row("viewer", OWN),
  "totp.confirm": row("viewer", OWN),
  "totp.remove": row("viewer", OWN),
  "members.list": row(
    "admin",
    nothing(() => [{}]),
  ),
  "members.create": row(
    "owner",
    refused(({ organizationId }) => [{ name: "spy", role: "viewer", organizations: [organizationId] }]),
  ),
  "members.get": row(
    "admin",
    hidden(({ memberId: id }) => [{ id }]),
  ),
  "members.update": row(
    "owner",
    hidden(({ memberId: id }) => [{ id, isDisabled: true }]),
  ),
  "members.remove": row(
    "owner",
    hidden(({ memberId: id }) => [{ id }]),
  ),
  "members.resetPassword": row(
    "owner",
    hidden(({ memberId: id }) => [{ id }]),
  ),
  "tokens.list": row(
    "viewer",
    nothing(() => [{}]),
  ),
  "tokens.create": row(
    "viewer",
    refused(({ organizationId }) => [
      { name: "spy", role: "viewer", organizations: [organizationId], expiresAt: SOON() },
    ]),
  ),
  "tokens.remove": row(
    "viewer",
    hidden(({ tokenId: id }) => [{ id }]),
  ),
  "members.signOut": row(
    "owner",
    hidden(({ memberId: id }) => [{ id }]),
  ),
  "organizations.list": row(
    "viewer",
    nothing(() => [{}, { search: "Acme" }]),
  ),
  "organizations.create": row("admin", REFUSED),
  "organizations.get": row(
    "viewer",
    hidden(({ organizationId: id }) => [{ id }]),
  ),
  "organizations.update": row(
    "admin",
    hidden(({ organizationId: id }) => [
      { id, isDisabled: true },
      { id, name: "x" },
    ]),
  ),
  "organizations.enableModels": row(
    "admin",
    refused(({ organizationId: id, model }) => [{ id, models: [model] }]),
  ),
  "organizations.disableModels": row(
    "admin",
    refused(({ organizationId: id, model }) => [{ id, models: [model] }]),
  ),
  export: row(
    "viewer",
    nothing(({ organizationId, keyId }) => [
      ...["ledger", "keys", "budgets", "prices", "jobs", "requests"].map((name) => ({ name })),
      { name: "ledger", organizationId },
      { name: "ledger", keyId },
      { name: "jobs", organizationId, format: "json" },
    ]),
  ),
  "keys.list": row(
    "viewer",
    nothing(({ organizationId }) => [{}, { organizationId }, { search: "acme" }]),
  ),
  "keys.create": row(
    "admin",
    hidden(({ organizationId }) => [{ organizationId, name: "spy" }]),
  ),
  "keys.get": row(
    "viewer",
    hidden(({ keyId: id }) => [{ id }]),
  ),
  "keys.example": row(
    "viewer",
    hidden(({ keyId: id }) => [{ id }]),
  ),
  "keys.update": row(
    "admin",
    hidden(({ keyId: id }) => [{ id, isDisabled: true }]),
  ),
  "keys.rotate": row(
    "admin",
    hidden(({ keyId: id }) => [{ id, overlapMs: 0 }]),
  ),
  "keys.remove": row(
    "admin",
    hidden(({ keyId: id }) => [{ id }]),
  ),
  "budgets.list": row(
    "viewer",
    nothing(({ organizationId, keyId }) => [{}, { organizationId }, { keyId }]),
  ),
  "budgets.create": row(
    "billing",
    hidden(({ organizationId }) => [{ organizationId, keyId: null, amount: "0", period: "total" }]),
  ),
  "budgets.update": row(
    "billing",
    hidden(({ budgetId: id }) => [{ id, amount: "0" }]),
  ),
  "budgets.remove": row(
    "billing",
    hidden(({ budgetId: id }) => [{ id }]),
  ),
  "leases.list": row("viewer", REFUSED),
  "leases.writeOff": row("billing", REFUSED),
  "prices.list": row(
    "viewer",
    nothing(({ organizationId }) => [{}, { organizationId }]),
  ),
  "prices.create": row(
    "billing",
    refused(({ organizationId }) => [{ organizationId, ...PRICE }]),
  ),
  "prices.preview": row(
    "viewer",
    hidden(({ organizationId }) => [{ organizationId, ...PRICE }]),
  ),
  "prices.end": row(
    "billing",
    refused(({ priceId: id }) => [{ id }]),
  ),
  "prices.table": row(
    "viewer",
    hidden(({ organizationId }) => [{ organizationId }]),
  ),
  "prices.effective": row(
    "viewer",
    hidden(({ organizationId }) => [{ organizationId, model: PRICE.model }]),
  ),
  "priceCorrections.preview": row(
    "billing",
    refused(({ organizationId }) => [{ organizationId, ...CORRECTION }]),
  ),
  "priceCorrections.apply": row(
    "billing",
    refused(({ organizationId }) => [{ organizationId, ...CORRECTION }]),
  ),
  "routes.list": row(
    "viewer",
    nothing(({ organizationId }) => [{ organizationId }, OF_SPIES, { ...OF_SPIES, ...DENIED }]),
  ),
  "routes.set": row(
    "admin",
    hidden(({ organizationId }) => [
      { organizationId, model: PRICE.model, strategy: "ordered", targets: TARGETS },
    ]),
  ),
  "routes.remove": row(
    "admin",
    hidden(({ organizationId }) => [{ organizationId, model: PRICE.model }]),
  ),
  "routes.explain": row(
    "viewer",
    nothing(({ organizationId }) => [
      { organizationId, model: PRICE.model },
      { ...OF_SPIES, ...DENIED },
    ]),
  ),
  "ledger.list": row(
    "viewer",
    nothing(({ organizationId, keyId, requestId, chargeId }) => [
      {},
      { organizationId },
      { keyId },
      { requestId },
      { cursor: chargeId },
    ]),
  ),
  "ledger.get": row(
    "viewer",
    hidden(({ chargeId: id }) => [{ id }]),
  ),
  "ledger.refund": row(
    "billing",
    refused(({ chargeId: id }) => [{ id, reason: "tried" }]),
  ),
  "ledger.verify": row("admin", REFUSED),
  "audit.list": row(
    "viewer",
    nothing(({ keyId, organizationId, memberId }) => [
      {},
      { subject: keyId },
      { subject: organizationId },
      { subject: memberId },
    ]),
  ),
  "audit.verify": row("admin", REFUSED),
  "jobs.list": row(
    "viewer",
    nothing(({ organizationId, keyId }) => [{}, { organizationId }, { keyId }]),
  ),
  "jobs.get": row(
    "viewer",
    hidden(({ jobId: id }) => [{ id }]),
  ),
  "jobs.cancel": row(
    "admin",
    hidden(({ jobId: id }) => [{ id }]),
  ),
  "webhooks.list": row(
    "viewer",
    nothing(({ organizationId }) => [{}, { organizationId }]),
  ),
  "webhooks.create": row(
    "admin",
    hidden(({ organizationId }) => [{ organizationId, url: "https://spy.example/hook" }]),
  ),
  "webhooks.remove": row(
    "admin",
    hidden(({ webhookId: id }) => [{ id }]),
  ),
  "webhooks.rotate": row(
    "admin",
    hidden(({ webhookId: id }) => [{ id, overlapMs: 0 }]),
  ),
  "deliveries.list": row(
    "viewer",
    nothing(({ organizationId, jobId }) => [{}, { organizationId }, { jobId }]),
  ),
  "deliveries.redeliver": row(
    "admin",
    hidden(({ deliveryId: id }) => [{ id }]),
  ),
  "alerts.list": row(
    "viewer",
    nothing(({ organizationId }) => [{}, { organizationId }]),
  ),
  "alerts.create": row(
    "admin",
    hidden(({ organizationId }) => [{ organizationId, ...ALERT }]),
  ),
  "alerts.update": row(
    "admin",
    hidden(({ alertId: id }) => [{ id, isDisabled: true }]),
  ),
  "alerts.remove": row(
    "admin",
    hidden(({ alertId: id }) => [{ id }]),
  ),
  "alerts.events": row(
    "viewer",
    nothing(({ organizationId }) => [{}, { organizationId }]),
  ),
  "mail.test": row("admin", REFUSED),
  "limits.defaults": row("viewer", OWN),
  "links.rotate": row("admin", REFUSED),
  "providers.list": row("viewer", REFUSED),
  "channels.list": row("viewer", REFUSED),
  "channels.create": row("admin", REFUSED),
  "channels.test": row("admin", REFUSED),
  "channels.models": row("admin", REFUSED),
  "channels.get": row("viewer", REFUSED),
  "channels.update": row("admin", REFUSED),
  "channels.remove": row("admin", REFUSED),
  "settings.list": row("admin", REFUSED),
  "configuration.export": row("admin", REFUSED),
  "configuration.import": row("owner", REFUSED),
  "configuration.reseal": row("owner", REFUSED),
  "prompts.get": row(
    "admin",
    hidden(({ chargeId }) => [{ id: chargeId }]),
  ),
  "prompts.remove": row(
    "admin",
    hidden(({ organizationId, chargeId: id }) => [{ organizationId }, { organizationId, id }]),
  ),
  events: row("viewer", { gets: "stream" }),
  "models.list": row("viewer", OWN),
  "models.get": row("viewer", OWN),
  "models.create": row("admin", REFUSED),
  "models.update": row("admin", REFUSED),
  "models.remove": row("admin", REFUSED),
  "overview.get": row(
    "viewer",
    nothing(({ organizationId }) => [{}, { organizationId }]),
  ),
  "usage.list": row(
    "viewer",
    nothing(({ organizationId, keyId }) => [
      { groupBy: "organization" },
      { groupBy: "key" },
      { organizationId },
      { keyId },
    ]),
  ),
  "requests.list": row(
    "viewer",
    nothing(({ organizationId, keyId, requestId }) => [{}, { organizationId }, { keyId }, { requestId }]),
  ),
  "requests.get": row(
    "viewer",
    hidden(({ chargeId, requestId }) => [{ id: chargeId }, { id: requestId }]),
  ),
  "pictures.list": row(
    "viewer",
    nothing(({ organizationId, keyId }) => [{}, { organizationId }, { keyId }]),
  ),
};
