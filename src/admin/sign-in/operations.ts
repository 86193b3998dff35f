import { z } from "zod";
import { memberView } from "../members/operations.ts";
import { operation } from "../operation.ts";
import { doneSchema, pageOf } from "../output.ts";
import { changePassword } from "./passwords.ts";
import { endOf, listSessions, removeSession, signOut, signOutEverywhere } from "./sessions.ts";
import { accessOf, requireMember, requireSession } from "./signed-in.ts";
import { beginTotp, codeInputSchema, confirmTotp, removeTotp } from "./totp.ts";
import { memberSchema, passwordChangeSchema, sessionSchema, type SessionRecord } from "../members/schema.ts";

const nothing = z.strictObject({});
const own = { role: "viewer", reach: "organization", cost: "page" } as const;
const done = { done: true } as const;

/** Operations on the caller's own account. */
export const sessionOperations = {
  "session.get": operation({
    method: "GET",
    path: "/session",
    summary: "Who is signed in, and what that member may do",
    ...own,
    beforePasswordChange: true,
    input: nothing,
    output: memberSchema,
    run: async (context) => ({
      ...memberView(requireMember(context).member),
      ...ownAccess(accessOf(context)),
    }),
  }),
  "session.remove": operation({
    method: "DELETE",
    path: "/session",
    summary: "Sign out",
    ...own,
    beforePasswordChange: true,
    input: nothing,
    output: doneSchema,
    run: async (context) => (await signOut(context), done),
  }),
  "sessions.list": operation({
    method: "GET",
    path: "/sessions",
    summary: "Your open sessions, newest first",
    ...own,
    cost: "report",
    input: nothing,
    output: pageOf(sessionSchema),
    async run(context) {
      const { session } = requireSession(context);
      const sessions = await listSessions(context);
      return { data: sessions.map((each) => sessionView(each, session.id)), next: null };
    },
  }),
  "sessions.remove": operation({
    method: "DELETE",
    path: "/sessions/{id}",
    summary: "End one of your sessions",
    ...own,
    input: z.strictObject({ id: z.string() }),
    output: doneSchema,
    run: async (context, { id }) => (await removeSession(context, id), done),
  }),
  "sessions.removeAll": operation({
    method: "DELETE",
    path: "/sessions",
    summary: "Sign out everywhere, here too",
    ...own,
    input: nothing,
    output: doneSchema,
    run: async (context) => (await signOutEverywhere(context), done),
  }),
  "password.change": operation({
    method: "POST",
    path: "/session/password",
    summary: "Change your password; your other sessions end",
    ...own,
    beforePasswordChange: true,
    input: passwordChangeSchema,
    output: doneSchema,
    run: async (context, input) => (await changePassword(context, input), done),
  }),
  "totp.begin": operation({
    method: "POST",
    path: "/session/totp",
    summary: "Make a secret for an authenticator; it counts once a code is confirmed",
    ...own,
    input: nothing,
    output: z.object({ secret: z.string().describe("Base32"), uri: z.string().describe("For a QR code") }),
    run: (context) => beginTotp(context),
  }),
  "totp.confirm": operation({
    method: "POST",
    path: "/session/totp/confirm",
    summary: "Turn TOTP on by a code; the recovery codes are in this response and nowhere else",
    ...own,
    input: codeInputSchema,
    output: z.object({ recoveryCodes: z.array(z.string()).describe("Each is accepted once") }),
    run: (context, input) => confirmTotp(context, input),
  }),
  "totp.remove": operation({
    method: "POST",
    path: "/session/totp/remove",
    summary: "Turn TOTP off by a code or a recovery code",
    ...own,
    input: codeInputSchema,
    output: doneSchema,
    run: async (context, input) => (await removeTotp(context, input), done),
  }),
};

function sessionView(session: SessionRecord, current: string): z.output<typeof sessionSchema> {
  const { hash: _hash, memberId: _memberId, ...shown } = session;
  return { ...shown, isThis: shown.id === current, endsAt: endOf(session) };
}

function ownAccess({ role, organizations }: ReturnType<typeof accessOf>) {
  return { role, organizations: organizations === "*" ? organizations : [...organizations] };
}
