import { z } from "zod";
import { ROLES } from "../../admin/roles.ts";
import type { EndpointDescription } from "./public-endpoints.ts";

const TAG = "Administration: session";
const DONE = { "application/json": z.object({ done: z.literal(true) }) };

/** Routes of administration that are no operations, by their names. */
export const MEMBER_ENDPOINTS: Readonly<Record<string, EndpointDescription>> = {
  "admin.session.create": {
    tag: TAG,
    summary: "Sign in; the session is a cookie",
    body: z.object({ name: z.string(), password: z.string() }),
    responses: { "application/json": z.looseObject({ name: z.string() }) },
  },
  "admin.session.get": {
    tag: TAG,
    summary: "Who is signed in",
    responses: {
      "application/json": z.looseObject({
        id: z.string(),
        name: z.string(),
        role: z.enum(ROLES),
        organizations: z.union([z.literal("*"), z.array(z.string())]),
      }),
    },
  },
  "admin.session.remove": { tag: TAG, summary: "Sign out", responses: DONE },
};
