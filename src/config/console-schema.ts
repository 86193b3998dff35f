import { z } from "zod";
import type { IdentitySettings } from "../admin/sign-in/identity-provider.ts";
import { ROLES } from "../admin/roles.ts";
import type { ReportProblem } from "./problems.ts";
import { resolveSecret, secretReferenceSchema, type SecretSource } from "./secret-reference.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

const issuerSchema = z.string().refine(isSafe, { error: "must be an https address" });

export const consoleSchema = z
  .strictObject({
    oidc: z
      .strictObject({
        issuer: issuerSchema.describe(
          "Address whose /.well-known/openid-configuration describes the provider",
        ),
        client_id: z.string().min(1).describe("Id of the gateway at the provider"),
        client_secret: secretReferenceSchema.describe("Secret of the gateway at the provider, by reference"),
        label: z.string().min(1).max(60).default("Single sign-on").describe("Text of the button"),
        scope: z.string().default("openid email profile").describe("Scopes that are requested"),
        role_claim: z
          .string()
          .min(1)
          .nullable()
          .default(null)
          .describe("Claim with the names of groups, which `roles` maps to roles"),
        roles: z
          .partialRecord(z.enum(ROLES), z.array(z.string().min(1)).min(1))
          .nullable()
          .default(null)
          .describe(
            "Groups of that claim by the role that they give at each sign-in, such as {owner: [gateway-owners]}",
          ),
        default_role: z
          .enum(ROLES)
          .default("viewer")
          .describe("Role of new members, and of those without a group of `roles`"),
        default_organizations: z
          .union([z.literal("*"), z.array(z.string().min(1)).min(1)])
          .nullable()
          .default(null)
          .describe("Organizations of new members; must be set where `allowed_domains` is"),
        allowed_domains: z
          .array(z.string().toLowerCase().min(1))
          .default([])
          .describe(
            "Domains of verified e-mail addresses whose holders become members at their first sign-in",
          ),
      })
      .refine(({ role_claim, roles }) => role_claim === null || roles !== null, {
        path: ["roles"],
        error: "is missing: it maps the groups of `role_claim` to roles, such as {admin: [gateway-admins]}",
      })
      .refine(({ role_claim, roles }) => roles === null || role_claim !== null, {
        path: ["role_claim"],
        error: "is missing: the claim with the groups that `roles` names",
      })
      .refine((oidc) => oidc.allowed_domains.length === 0 || oidc.default_organizations !== null, {
        path: ["default_organizations"],
        error: 'is missing: the organizations of those whom `allowed_domains` makes members, or "*" for all',
      })
      .nullable()
      .default(null)
      .describe("An OpenID provider to sign in at"),
  })
  .prefault({});

/** Returns the identity provider with its secret; null when none is configured. */
export async function resolveIdentity(
  { oidc }: z.output<typeof consoleSchema>,
  secrets: SecretSource,
  report: ReportProblem,
): Promise<IdentitySettings | null> {
  if (oidc === null) return null;
  const resolved = await resolveSecret(oidc.client_secret, secrets);
  if ("problem" in resolved) {
    report("console.oidc.client_secret", resolved.problem);
    return null;
  }
  return {
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: resolved.secret,
    label: oidc.label,
    scope: oidc.scope,
    roleClaim: oidc.role_claim,
    roles: oidc.roles,
    defaultRole: oidc.default_role,
    defaultOrganizations: oidc.default_organizations ?? [],
    allowedDomains: oidc.allowed_domains,
  };
}

/** True for addresses that protect sign-in data from the network: https, or http on this machine. */
function isSafe(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && (url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname)))
  );
}
