import type { AdminStore } from "../../src/admin/admin-store.ts";
import type { MemberRecord } from "../../src/admin/members/schema.ts";
import type { Stores } from "../../src/storage/tables/stores.ts";
import { aBudget, aKey, anEntry, anOrganization, BY } from "../contracts/storage-harness.ts";

/** Creates an organization and one record of most kinds, with ids that end with the organization's id. */
export async function fill({ admin, ledger }: Stores, organizationId: string): Promise<void> {
  const of = (kind: string) => `${kind}_${organizationId}`;
  await admin.organizations.create(anOrganization(organizationId), BY);
  await admin.keys.create(aKey(of("key"), organizationId), BY);
  await admin.budgets.create(aBudget(of("budget"), 9n, { organizationId, keyId: of("key") }), BY);
  await admin.prices.add(aPrice(of("price"), organizationId), BY);
  await admin.webhooks.add({ ...aWebhook(of("hook"), organizationId), secret: "x" }, BY);
  await admin.alerts.create(anAlert(of("alert"), organizationId), BY);
  await admin.members.create(aMember(of("user"), [organizationId]), BY);
  await admin.sessions.create(aSession(of("session"), of("user")));
  await admin.adminTokens.create(aToken(of("token"), of("user"), [organizationId]), BY);
  const entry = anEntry(of("entry"), 1n, { organizationId, keyId: of("key"), at: Date.now() });
  await ledger.post("process", [entry]);
  const prompt = {
    id: of("entry"),
    at: 1,
    organizationId,
    keyId: of("key"),
    model: null,
    prompt: "",
    reply: "",
  };
  await admin.prompts.add([{ ...prompt, expiresAt: 10 ** 13 }]);
}

export function aPrice(id: string, organizationId: string | null) {
  const price = { unit: "token" as const, perMillion: { input: 1n, output: 1n } };
  const times = { effectiveFrom: 1, effectiveUntil: null, createdAt: 1 };
  return { id, organizationId, model: "sandbox-chat", currency: "USD", price, ...times };
}

export function aWebhook(id: string, organizationId: string) {
  return {
    id,
    organizationId,
    format: "standard" as const,
    url: `https://${organizationId}.example/`,
    createdAt: 1,
  };
}

export function anAlert(id: string, organizationId: string): Parameters<AdminStore["alerts"]["create"]>[0] {
  const settings = { kind: "ejection" as const, seconds: 60 };
  const ways = { emails: [], usesWebhooks: true, isDisabled: false };
  return { id, organizationId, name: id, settings, ...ways, createdAt: 1 };
}

export function aMember(id: string, organizations: "*" | string[]): Omit<MemberRecord, "version"> {
  return {
    id,
    name: id,
    email: null,
    role: "admin",
    organizations,
    isDisabled: false,
    passwordHash: null,
    mustChangePassword: false,
    totp: null,
    identity: null,
    lastSeenAt: null,
    createdAt: 1,
  };
}

export function aSession(id: string, memberId: string) {
  return { id, hash: `hash of ${id}`, memberId, createdAt: 1, seenAt: 1, address: "", agent: "" };
}

export function aToken(id: string, memberId: string, organizations: "*" | string[]) {
  const times = { expiresAt: 10 ** 13, lastUsedAt: null, createdAt: 1 };
  return {
    id,
    hash: `hash of ${id}`,
    prefix: "ga_",
    name: id,
    memberId,
    role: "viewer" as const,
    organizations,
    ...times,
  };
}
