import type { AddressList } from "../lib/cidr.ts";
import type { Limits } from "./limits.ts";
import type { ModelSet } from "./model.ts";
import type { Organization } from "./organization.ts";

/** A gateway key without its secret, of which only the hash is stored. */
export interface ApiKey {
  id: string;
  organizationId: string;
  name: string;
  /** First characters of the secret, by which people recognize the key. */
  prefix: string;
  scopes: ReadonlySet<Scope | "ai:*">;
  /** Model ids that the key may call; `"*"` stands for all models of its organization. */
  models: ModelSet;
  /** Addresses that the key may be used from; `null` stands for any address. */
  addresses: AddressList | null;
  limits: Partial<Limits>;
  budgets: readonly string[];
  isDisabled: boolean;
  /** True when a field of its requests that would have no effect is refused. */
  refuseIgnored: boolean;
  /** Unix milliseconds. */
  expiresAt: number | null;
}

export type Scope = "ai:image" | "ai:llm";

/** True when a key may be used on routes of a scope. */
export function hasScope({ scopes }: Pick<ApiKey, "scopes">, scope: Scope): boolean {
  return scopes.has(scope) || scopes.has("ai:*");
}

/** The authenticated caller: a valid key and its organization. */
export interface Principal {
  key: ApiKey;
  organization: Organization;
}
