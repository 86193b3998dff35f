import { modelSet } from "../../admin/organizations/enabled-models.ts";
import type { ApiKey } from "../../domain/api-key.ts";
import { parseAddressList, type AddressList } from "../../lib/cidr.ts";
import type { KeyRecord } from "../../admin/keys/schema.ts";

/**
 * Makes the keys that requests are checked against. Equal sets of scopes share one object, and so do equal sets of
 * models, which keeps a hundred thousand keys small.
 */
interface KeyFactory {
  make(record: KeyRecord, budgets: readonly string[]): ApiKey;
}

const MAX_SHARED_SETS = 10_000;
const NO_ADDRESS: AddressList = { has: () => false };

export function keyFactory(onProblem: (message: string) => void): KeyFactory {
  const scopeSets = shared((scopes: KeyRecord["scopes"]): ApiKey["scopes"] => new Set(scopes));
  const modelSets = shared((models: string[]) => modelSet(models));
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
      refuseIgnored: record.refuseIgnored,
      expiresAt: record.expiresAt,
    }),
  };
}

function shared<Item extends string, Made>(make: (items: Item[]) => Made): (items: Item[]) => Made {
  const known = new Map<string, Made>();
  return (items) => {
    const name = items.join("\n");
    const found = known.get(name);
    if (found) return found;
    const made = make(items);
    if (known.size < MAX_SHARED_SETS) known.set(name, made);
    return made;
  };
}
