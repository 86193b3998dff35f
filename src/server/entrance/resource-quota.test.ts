import { expect, test } from "bun:test";
import { plainCore } from "../../../test/support/plain-core.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { ResourceQuota, type ResourceUser } from "./resource-quota.ts";

const { principal } = plainCore({ model: { id: "m" } as Parameters<typeof plainCore>[0]["model"] });

function userOf(organization: string, key: string, network: string): ResourceUser {
  return {
    principal: {
      ...principal,
      key: { ...principal.key, id: key },
      organization: { ...principal.organization, id: organization },
    },
    network: () => network,
  };
}

function refusalOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    return error instanceof GatewayError ? `${error.code}: ${error.message}` : String(error);
  }
}

test("keys of several organizations at one network use three quarters of the process at most", () => {
  const quota = new ResourceQuota("space", { key: 30, organization: 60, process: 100 });
  const shares = [1, 2].map((number) => quota.open(userOf(`org_${number}`, `key_${number}`, "10.0.0.1"), 30));
  const third = () => quota.open(userOf("org_3", "key_3", "10.0.0.1"), 16);
  expect(refusalOf(third)).toStartWith("rate_limit_exceeded: Your address uses too much space");
  quota.open(userOf("org_3", "key_3", "10.0.0.2"), 16)[Symbol.dispose]();
  quota.open(userOf("org_3", "key_3", "10.0.0.1"), 15)[Symbol.dispose]();
  shares[0]?.[Symbol.dispose]();
  expect(refusalOf(third)).toBe("");
});

test("a key, an organization and the process are each refused by name", () => {
  const quota = new ResourceQuota("space", { key: 30, organization: 60, process: 100 });
  const open = (organization: string, key: string, network: string, amount: number) =>
    refusalOf(() => quota.open(userOf(organization, key, network), amount));
  expect(open("org_1", "key_1", "a", 31)).toStartWith("rate_limit_exceeded: This key uses");
  for (const key of ["key_1", "key_2"]) expect(open("org_1", key, "a", 30)).toBe("");
  expect(open("org_1", "key_3", "b", 1)).toStartWith("rate_limit_exceeded: Your organization uses");
  expect(open("org_2", "key_4", "b", 30)).toBe("");
  expect(open("org_3", "key_5", "c", 11)).toStartWith("overloaded: All requests together use");
});
