import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { AdminStore } from "../admin-store.ts";
import { covers } from "../sign-in/signed-in.ts";

/**
 * Throws 400 for the first address that the gateway does not send mail to. Allowed are the addresses of enabled members
 * (of the named organization; with null, of all organizations) and the domains in `mail.allowed_domains`. Without a
 * mail server every address passes.
 */
export async function requireRecipients(
  { store, catalogue: { mail } }: Pick<AdminContext, "store" | "catalogue">,
  emails: readonly string[],
  { field, organizationId }: { field: string; organizationId?: string | null },
): Promise<void> {
  if (!mail) return;
  for (const email of emails) {
    if (await isRecipient(store, mail, email, organizationId)) continue;
    const message = `${field} has ${email}: mails go to members, and to the domains of \`mail.allowed_domains\``;
    throw new AdminError(400, field, message);
  }
}

/**
 * True for an address that gets mail: one of an allowed domain, or that of an enabled member who belongs to the named
 * organization, if one is named.
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
