import { operatorMessage } from "../../domain/operator-message.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { AdminStore } from "../admin-store.ts";
import { covers } from "../sign-in/signed-in.ts";

/**
 * Throws 400 for the first address to which the gateway may not send mail. It may send to the domains in
 * `mail.allowed_domains` and to enabled members: members with access to `organizationId`; for null, members of all
 * organizations; if absent, any member. Without a mail server, every address is allowed.
 */
export async function requireRecipients(
  { store, catalogue: { mail } }: Pick<AdminContext, "store" | "catalogue">,
  emails: readonly string[],
  { field, organizationId }: { field: string; organizationId?: string | null },
): Promise<void> {
  if (!mail) return;
  for (const email of emails) {
    if (await isRecipient(store, mail, email, organizationId)) continue;
    const message = operatorMessage("error.recipient", { field, email });
    throw new AdminError(400, field, message);
  }
}

/**
 * True for an address in an allowed domain, and for the address of an enabled member. `organizationId` restricts these
 * members as in `requireRecipients`.
 */
export async function isRecipient(
  { members }: Pick<AdminStore, "members">,
  { allowedDomains }: { allowedDomains: readonly string[] },
  email: string,
  organizationId?: string | null,
): Promise<boolean> {
  const address = email.toLowerCase();
  if (allowedDomains.includes(address.slice(address.lastIndexOf("@") + 1))) return true;
  const member = await members.find({ email: address });
  const organizations = organizationId === null ? "*" : organizationId === undefined ? [] : [organizationId];
  return member !== null && !member.isDisabled && covers(member, organizations);
}
