import { z } from "zod";
import { EXPORTS } from "../../admin/exports/exports.ts";
import { jsonSchema } from "./schema.ts";
import type { EndpointDescription } from "./public-endpoints.ts";
import { memberSchema } from "../../admin/members/schema.ts";

const TAG = "Administration: session";

/** Descriptions of the routes of administration that are not operations, by name of the route. */
export const MEMBER_ENDPOINTS: Readonly<Record<string, EndpointDescription>> = {
  "admin.session.create": {
    tag: TAG,
    summary: "Sign in; the session is a cookie",
    body: jsonSchema(
      z.object({
        name: z.string(),
        password: z.string(),
        code: z.string().optional().describe("Of a second factor, where one is on"),
      }),
      "input",
    ),
    responses: { "application/json": memberSchema },
  },
  "admin.sign-in": {
    tag: TAG,
    summary: "The available ways to sign in",
    responses: {
      "application/json": z.object({
        password: z.boolean(),
        oidc: z.object({ label: z.string() }).nullable(),
      }),
    },
  },
  "admin.events": {
    tag: TAG,
    summary: "Changes as server-sent events, for sessions of the console",
    responses: { "text/event-stream": null },
  },
  "console.oidc": {
    tag: TAG,
    summary: "Sign in at the identity provider: redirects there and back",
    responses: {},
    status: 302,
  },
  "admin.export": {
    tag: "Administration: export",
    summary: "A list as a file: all entries that match the list's filter",
    description: `Names are ${EXPORTS.join(", ")}. Other parameters are those of the list.`,
    query: z.object({ format: z.enum(["csv", "json"]).default("csv").describe("json is one object a line") }),
    responses: { "text/csv": null, "application/jsonl": null },
  },
};
