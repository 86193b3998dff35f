import type { KeyRecord } from "../../admin/ports.ts";
import type { ApiKey } from "../../domain/api-key.ts";
import { parseAddressList, type AddressList } from "../../lib/cidr.ts";

/**
 * Makes the keys that requests are checked against. Equal sets of scopes and models share one object, so that a hundred
 * thousand keys stay small.
 */
interface KeyFactory {
  make(record: KeyRecord, budgets: readonly string[]): ApiKey;
}

const MAX_SHARED_SETS = 10_000;
const NO_ADDRESS: AddressList = { has: () => false };

export function keyFactory(onProblem: (message: string) => void): KeyFactory {
  const scopeSets = sharedSets<ApiKey["scopes"] extends ReadonlySet<infer S> ? S : never>();
  const modelSets = sharedSets<string>();
  const addresses = (record: KeyRecord): AddressList | null => {
    if (record.addresses === null) return null;
    try {
      return parseAddressList(record.addresses);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      onProblem(`the address list of ${record.id} cannot be read, so the key is usable from nowhere`);
      return NO_ADDRESS;
    }
  };
  return {
    make: (record, budgets) => ({
      id: record.id,
      organizationId: record.organizationId,
      name: record.name,
      prefix: record.prefix,
      scopes: scopeSets(record.scopes),
      models: record.models === "*" ? "*" : modelSets(record.models),
      addresses: addresses(record),
      limits: record.limits,
      budgets,
      isDisabled: record.isDisabled,
      expiresAt: record.expiresAt,
    }),
  };
}

function sharedSets<T extends string>(): (items: readonly T[]) => ReadonlySet<T> {
  const sets = new Map<string, ReadonlySet<T>>();
  return (items) => {
    const name = items.join("\n");
    const known = sets.get(name);
    if (known) return known;
    const set = new Set(items);
    if (sets.size < MAX_SHARED_SETS) sets.set(name, set);
    return set;
  };
}
