import type { AddressList } from "../lib/cidr.ts";
import type { Limits } from "./limits.ts";
import type { ModelSet } from "./model.ts";
import type { Organization } from "./organization.ts";

/** A gateway key without its secret. Of the secret, only a hash and the prefix are stored. */
export interface ApiKey {
  id: string;
  organizationId: string;
  name: string;
  /** First characters of the secret, by which people recognize the key. */
  prefix: string;
  scopes: ReadonlySet<Scope | "ai:*">;
  /** Model ids that the key may call; `"*"` for all models of its organization. */
  models: ModelSet;
  /** Addresses from which the key may be used; `null` allows any address. */
  addresses: AddressList | null;
  limits: Partial<Limits>;
  budgets: readonly string[];
  isDisabled: boolean;
  /** True when a request of this key is refused if it contains a field without effect. */
  refuseIgnored: boolean;
  /** Unix milliseconds at which the key expires; null for a key that never expires. */
  expiresAt: number | null;
}

export type Scope = "ai:image" | "ai:llm";

/** True when requests with the key may be accepted now. `now` is in Unix milliseconds. */
export function isUsable(
  { isDisabled, expiresAt }: Pick<ApiKey, "isDisabled" | "expiresAt">,
  now: number,
): boolean {
  return !isDisabled && (expiresAt === null || expiresAt > now);
}

/** True when the key may be used on the routes of this scope. */
export function hasScope({ scopes }: Pick<ApiKey, "scopes">, scope: Scope): boolean {
  return scopes.has(scope) || scopes.has("ai:*");
}

/** The authenticated caller: a valid key and its organization. */
export interface Principal {
  key: ApiKey;
  organization: Organization;
}
