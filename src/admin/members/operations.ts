import { z } from "zod";
import {
  createMember,
  getMember,
  listMembers,
  removeMember,
  resetPassword,
  signOutMember,
  updateMember,
} from "./members.ts";
import { operation } from "../operation.ts";
import { doneSchema, pageOf } from "../output.ts";
import { pageByName, pageFields } from "../paging.ts";
import { isTotpOn } from "../sign-in/totp.ts";
import { memberChangeSchema, memberCreationSchema, memberSchema, type MemberRecord } from "./schema.ts";

const idSchema = z.strictObject({ id: z.string() });

export const memberOperations = {
  "members.list": operation({
    method: "GET",
    path: "/members",
    summary: "Members, oldest first",
    role: "admin",
    reach: "organization",
    cost: "report",
    input: z.strictObject(pageFields),
    output: pageOf(memberSchema),
    async run(context, input) {
      const { data, next } = pageByName(await listMembers(context), input, ({ id }) => id);
      return { data: data.map(memberView), next };
    },
  }),
  "members.create": operation({
    method: "POST",
    path: "/members",
    summary: "Create a member; a generated password is in this response and nowhere else",
    role: "owner",
    reach: "organization",
    cost: "page",
    input: memberCreationSchema,
    output: z.object({
      member: memberSchema,
      password: z
        .string()
        .nullable()
        .describe("Generated, shown only now; to be changed at the first sign-in"),
    }),
    async run(context, input) {
      const { member, password } = await createMember(context, input);
      return { member: memberView(member), password };
    },
  }),
  "members.get": operation({
    method: "GET",
    path: "/members/{id}",
    summary: "One member",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: memberSchema,
    run: async (context, { id }) => memberView(await getMember(context, id)),
  }),
  "members.update": operation({
    method: "PATCH",
    path: "/members/{id}",
    summary: "Change what the body names; changed rights end the member's sessions",
    role: "owner",
    reach: "organization",
    cost: "page",
    input: memberChangeSchema.extend(idSchema.shape),
    output: memberSchema,
    run: async (context, { id, ...change }) => memberView(await updateMember(context, id, change)),
  }),
  "members.remove": operation({
    method: "DELETE",
    path: "/members/{id}",
    summary: "Remove a member with its sessions and tokens; the audit keeps its name",
    role: "owner",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await removeMember(context, id);
      return { done: true as const };
    },
  }),
  "members.resetPassword": operation({
    method: "POST",
    path: "/members/{id}/reset-password",
    summary: "Give a member a generated password, to be changed at the next sign-in; ends its sessions",
    role: "owner",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: z.object({ member: memberSchema, password: z.string().describe("Shown only now") }),
    async run(context, { id }) {
      const { member, password } = await resetPassword(context, id);
      return { member: memberView(member), password };
    },
  }),
  "members.signOut": operation({
    method: "POST",
    path: "/members/{id}/sign-out",
    summary: "End all sessions of a member",
    role: "owner",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: z.object({ sessions: z.int().describe("That ended") }),
    run: async (context, { id }) => ({ sessions: await signOutMember(context, id) }),
  }),
};

export function memberView(member: MemberRecord): z.output<typeof memberSchema> {
  const { passwordHash, identity, totp: _totp, ...shown } = member;
  return {
    ...shown,
    isTotpOn: isTotpOn(member),
    hasPassword: passwordHash !== null,
    hasIdentity: identity !== null,
  };
}
