import { z } from "zod";
import { rotateLinkSecret } from "./links.ts";
import { operation } from "./operation.ts";
import { limitsViewSchema } from "./output.ts";

/** What all organizations share. */
export const installationOperations = {
  "limits.defaults": operation({
    method: "GET",
    path: "/limits",
    summary: "Limits of organizations and keys that have none of their own; null is unlimited",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: z.strictObject({}),
    output: z.object({ organization: limitsViewSchema, key: limitsViewSchema }),
    async run({ catalogue }) {
      const { organization, key } = catalogue.limits;
      return { organization, key };
    },
  }),
  "links.rotate": operation({
    method: "POST",
    path: "/links/rotate",
    summary: "Sign links to results with a new secret",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: z.strictObject({
      isImmediate: z.boolean().default(false).describe("Links made before become invalid at once"),
    }),
    output: z.object({ kept: z.int().describe("Earlier secrets that links may still be signed with") }),
    run: (context, { isImmediate = false }) => rotateLinkSecret(context, { isImmediate }),
  }),
};
