import { z } from "zod";
import { operation } from "../operation.ts";
import { limitsViewSchema } from "../output.ts";
import type { AdminContext } from "../context.ts";

/** Operations on things that all organizations share. */
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
    run: (context, { isImmediate }) => rotateLinkSecret(context, { isImmediate }),
  }),
};

/**
 * Makes a new secret that signs links to results from now on. Earlier links stay valid until they expire; with
 * `isImmediate`, they become invalid immediately. Returns the number of older secrets that still verify links.
 */
async function rotateLinkSecret(
  { store, by, clock }: AdminContext,
  { isImmediate }: { isImmediate: boolean },
): Promise<{ kept: number }> {
  return await store.linkSecrets.rotate({ at: clock.now(), keepsOld: !isImmediate }, by);
}
