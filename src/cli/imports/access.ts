import { systemClock } from "../../lib/clock.ts";
import { defined, freeId, idOf, type ImportDraft } from "./draft.ts";

/** A team, user or workspace of another gateway. It becomes an organization here. */
export interface SourceOrganization {
  name: string;
  budget?: SourceBudget | undefined;
}

/** A key of another gateway. Its secret cannot be imported, so the key gets a new secret here. */
export interface SourceKey {
  name: string;
  /** Id of the key's organization. If absent, the default organization. */
  organizationId?: string | undefined;
  models?: readonly string[] | undefined;
  requestsPerMinute?: number | undefined;
  tokensPerMinute?: number | undefined;
  expiresAt?: Date | undefined;
  isDisabled?: boolean | undefined;
  budget?: SourceBudget | undefined;
}

/** An amount in US dollars per day, per month or in total. */
export interface SourceBudget {
  amount: string;
  period: "day" | "month" | "total";
}

const DEFAULT_ORGANIZATION = "default";

/** Adds an organization with its budget. Returns the organization's id. */
export function addOrganization({ sections }: ImportDraft, { name, budget }: SourceOrganization): string {
  const id = freeId(idOf(name), new Map(Object.entries(sections.organizations)));
  sections.organizations[id] = { name, currency: "USD" };
  if (budget) sections.budgets[`budget_${id}`] = { organizationId: id, keyId: null, ...budget };
  return id;
}

/** Adds a key, or a note if the key has expired. */
export function addKey(draft: ImportDraft, key: SourceKey): void {
  const { sections } = draft;
  if (key.expiresAt !== undefined && key.expiresAt.getTime() <= systemClock.now()) {
    draft.note(`key ${key.name}`, "is left out: it has expired");
    return;
  }
  const id = freeId(`key_${idOf(key.name)}`, new Map(Object.entries(sections.keys)));
  const organizationId = key.organizationId ?? DEFAULT_ORGANIZATION;
  const limits = defined({
    requestsPerMinute: key.requestsPerMinute,
    tokensPerMinute: key.tokensPerMinute,
  });
  const known = key.models?.filter((model) => Object.hasOwn(sections.models, model));
  const missing = key.models?.filter((model) => !Object.hasOwn(sections.models, model)) ?? [];
  if (missing.length > 0)
    draft.note(`key ${key.name}`, `may no longer use models that are left out: ${missing.join(", ")}`);
  sections.keys[id] = defined({
    organizationId,
    name: key.name,
    models: known === undefined || known.length === 0 ? "*" : known,
    limits,
    expiresAt: key.expiresAt?.toISOString(),
    isDisabled: key.isDisabled === true || (known?.length === 0 && missing.length > 0) ? true : undefined,
  });
  if (key.budget) sections.budgets[`budget_${id}`] = { organizationId, keyId: id, ...key.budget };
}
