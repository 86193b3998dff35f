import { z } from "zod";
import { createAdminToken, listAdminTokens, removeAdminToken } from "./tokens.ts";
import { operation } from "../operation.ts";
import { pageByName, pageFields } from "../paging.ts";
import { doneSchema, pageOf } from "../output.ts";
import { tokenCreationSchema, tokenSchema } from "./schema.ts";

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
      return pageByName(await listAdminTokens(context), input, ({ id }) => id);
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
    run: createAdminToken,
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
