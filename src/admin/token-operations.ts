import { z } from "zod";
import { createAdminToken, listAdminTokens, removeAdminToken, tokenCreationSchema } from "./admin-tokens.ts";
import type { AdminTokenRecord } from "./member-ports.ts";
import { accessOrganizationsSchema, roleSchema } from "./members.ts";
import { operation } from "./operation.ts";
import { pageByName, pageFields } from "./paging.ts";
import { doneSchema, isoTime, isoTimeSchema, pageOf } from "./output.ts";

const tokenSchema = z.object({
  id: z.string(),
  memberId: z.string().describe("Who created it; it never may do more than that member"),
  name: z.string(),
  role: roleSchema,
  organizations: accessOrganizationsSchema,
  prefix: z.string().describe("First characters of the token"),
  expiresAt: isoTimeSchema,
  lastUsedAt: isoTimeSchema.nullable(),
  createdAt: isoTimeSchema,
});

export const tokenOperations = {
  "tokens.list": operation({
    method: "GET",
    path: "/tokens",
    summary: "Your admin tokens, oldest first; for an owner of everything those of all members",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: z.strictObject(pageFields),
    output: pageOf(tokenSchema),
    async run(context, input) {
      const { data, next } = pageByName(await listAdminTokens(context), input, ({ id }) => id);
      return { data: data.map(toView), next };
    },
  }),
  "tokens.create": operation({
    method: "POST",
    path: "/tokens",
    summary: "Create an admin token for automation; it is in this response and nowhere else",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: tokenCreationSchema,
    output: z.object({ secret: z.string().describe("Shown only now"), token: tokenSchema }),
    async run(context, input) {
      const { secret, token } = await createAdminToken(context, input);
      return { secret, token: toView(token) };
    },
  }),
  "tokens.remove": operation({
    method: "DELETE",
    path: "/tokens/{id}",
    summary: "Remove an admin token; it is refused from now on",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: z.strictObject({ id: z.string() }),
    output: doneSchema,
    async run(context, { id }) {
      await removeAdminToken(context, id);
      return { done: true as const };
    },
  }),
};

function toView({
  hash: _hash,
  expiresAt,
  lastUsedAt,
  createdAt,
  ...shown
}: AdminTokenRecord): z.input<typeof tokenSchema> {
  return {
    ...shown,
    expiresAt: isoTime(expiresAt),
    lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
    createdAt: isoTime(createdAt),
  };
}
