import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";
import { covers } from "./signed-in.ts";

/**
 * Throws 400 for the first address that the gateway sends no mail to: one of neither an enabled member, of the organization
 * where one is named, nor a domain of `mail.allowed_domains`. Where no mail server is configured, every address passes.
 */
export async function requireRecipients(
  { store, catalogue: { mail } }: Pick<AdminContext, "store" | "catalogue">,
  emails: readonly string[],
  { field, organizationId }: { field: string; organizationId?: string },
): Promise<void> {
  if (!mail) return;
  const organizations = organizationId === undefined ? [] : [organizationId];
  for (const email of emails) {
    const address = email.toLowerCase();
    if (mail.allowedDomains.includes(address.slice(address.lastIndexOf("@") + 1))) continue;
    const member = await store.members.find({ email: address });
    if (member && !member.isDisabled && covers(member, organizations)) continue;
    const message = `${field} has ${email}: mails go to members, and to the domains of \`mail.allowed_domains\``;
    throw new AdminError(400, field, message);
  }
}
