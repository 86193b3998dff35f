import { expect, test } from "bun:test";
import { createMember, createOrganization, updateMember } from "../../../test/support/admin-calls.ts";
import { refusal, withOrganization } from "../../../test/support/admin-context.ts";
import { requireRecipients } from "./recipients.ts";

const ALLOWED = ["ops.example"];

test.each([
  ["an allowed domain", "anybody@OPS.example", ALLOWED, true],
  ["a domain that ends the same", "a@notops.example", ALLOWED, false],
  ["a part of an allowed domain", "a@sub.ops.example", ALLOWED, false],
  ["a stranger", "victim@elsewhere.example", [], false],
  ["a member of all organizations", "all@acme.example", [], true],
  ["a member of the organization", "Own@acme.example", [], true],
  ["a member of another organization", "other@acme.example", [], false],
  ["a disabled member", "gone@acme.example", [], false],
] as const)("a mail to %s", async (_what, email, allowedDomains, isAllowed) => {
  const made = await withOrganization();
  const context = { ...made, catalogue: { ...made.catalogue, mail: { allowedDomains } } };
  await createOrganization(context, { id: "other", name: "Other" });
  const make = async (name: string, organizations: "*" | string[]) =>
    (
      await createMember(context, {
        name,
        email: `${name}@acme.example`,
        role: "viewer",
        organizations,
        password: null,
      })
    ).member;
  await make("all", "*");
  await make("own", ["acme"]);
  await make("other", ["other"]);
  await updateMember(context, (await make("gone", ["acme"])).id, { isDisabled: true });
  const asked = requireRecipients(context, [email], { field: "emails", organizationId: "acme" });
  if (isAllowed) await asked;
  else expect(await refusal(asked)).toEqual([400, "emails", expect.stringContaining("mail.allowed_domains")]);
});
