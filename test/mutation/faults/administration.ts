import type { Fault } from "../fault.ts";

const GUARD = "src/lib/network-guard.ts";
const ENTRY = "src/admin/channels/entry.ts";
const NETWORK = "src/providers/transport/network.ts";

const guard = ["src/lib/network-guard.test.ts"];
const networks = ["test/contracts/channel-networks.test.ts"];

/** Protections against members, and against those who would be members. */
export const ADMINISTRATION_FAULTS: readonly Fault[] = [
  {
    name: "a metadata address is allowed where every network is",
    file: GUARD,
    find: "|| forms.some((form) => NEVER.has(form))",
    replace: "",
    tests: guard,
  },
  {
    name: "one allowed address of a name is enough",
    file: GUARD,
    find: "if (!addresses.every(",
    replace: "if (!addresses.some(",
    tests: guard,
  },
  {
    name: "every member may choose private addresses",
    file: ENTRY,
    find: `accessOf(caller).role === "owner"`,
    replace: "true",
    tests: networks,
  },
  {
    name: "an owner's other change frees the address that another member chose",
    file: ENTRY,
    find: `isSame ? before["private_networks"] === true :`,
    replace: "",
    tests: networks,
  },
  {
    name: "strangers use up the tries of a browser that is known",
    file: "src/admin/sign-in/attempts.ts",
    find: "  if (known !== null) return { origins: [],",
    replace: "  if (known === name) return { origins: [],",
    tests: ["src/admin/sign-in/sessions.test.ts"],
  },
  {
    name: "every mark makes a browser known",
    file: "src/admin/sign-in/sign-in.ts",
    find: 'return timingSafeEqual(signature(member, id), Buffer.from(signed, "hex")) ? id : null;',
    replace: "return id;",
    tests: ["src/admin/sign-in/sessions.test.ts"],
  },
  {
    name: "charges of the playground name nobody",
    file: "src/gateway/metering/billing.ts",
    find: "    ...(context.source !== null && { source: context.source }),",
    replace: "",
    tests: ["test/spec/playground-keys.test.ts"],
  },
  {
    name: "a member uses a key without a row of the audit",
    file: "src/server/playground-keys.ts",
    find: 'await audit({ by, key, sessionId: session?.id ?? "" });',
    replace: 'void { by, key, sessionId: session?.id ?? "", audit };',
    tests: ["test/spec/playground-keys.test.ts"],
  },
  {
    name: "two equal lengths are a number",
    file: "src/server/entrance/body.ts",
    find: "return /^\\d+$/.test(length) ? Number(length) : Number.NaN;",
    replace: "return Number.parseInt(length, 10);",
    tests: ["test/spec/http-strictness.test.ts"],
  },
  {
    name: "a change is answered before it is in force",
    file: "src/admin/operation.ts",
    find: `if (operation.method !== "GET") await applyChange(context);`,
    replace: `if (method === "PUT") await applyChange(context);`,
    tests: ["src/admin/operation.test.ts"],
  },
  {
    name: "the mask is stored as a credential",
    file: ENTRY,
    find: `  else if (credential === MASK) requireKnown(before["credential"], "credential");\n`,
    replace: "",
    tests: networks,
  },
  {
    name: "a group called owner makes owners",
    file: "src/admin/sign-in/identity-provider.ts",
    find: "roles?.[role]?.some((group) => groups.includes(group))",
    replace: "roles && groups.includes(role)",
    tests: ["test/e2e/admin-openid.test.ts"],
  },
  {
    name: "a password that somebody else set stays when its member signs in at the provider",
    file: "src/admin/sign-in/identity-provider.ts",
    find: "        ...(before.identity === null && NO_OTHER_WAY_IN),\n",
    replace: "",
    tests: ["test/e2e/admin-openid.test.ts"],
  },
  {
    name: "admin tokens that somebody else made stay when their member signs in at the provider",
    file: "src/admin/sign-in/identity-provider.ts",
    find: "      ...(known?.identity === null && { endsTokens: true }),\n",
    replace: "",
    tests: ["test/e2e/admin-openid.test.ts"],
  },
  {
    name: "an owner of one organization gives a member of the provider a password",
    file: "src/admin/members/members.ts",
    find: "if (before.identity !== null && !decidesForAll(context))",
    replace: "if (before.identity !== null && context.signedIn === null)",
    tests: ["test/e2e/admin-openid.test.ts"],
  },
  {
    name: "a header whose name does not say that it is a secret is shown",
    file: "src/admin/channels/view.ts",
    find: `masked(partsOf(declared["headers"]), isMaskedHeader, `,
    replace: `masked(partsOf(declared["headers"]), (name) => name.endsWith("-key") && isMaskedHeader(name), `,
    tests: ["test/e2e/configuration.test.ts"],
  },
  {
    name: "names may have direction characters",
    file: "src/lib/plain-name.ts",
    find: "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Default_Ignorable_Code_Point}",
    replace: "[\\p{Cc}\\p{Zl}\\p{Zp}\\p{Cs}",
    tests: ["src/lib/plain-name.test.ts"],
  },
  {
    name: "names may have characters that cannot be seen",
    file: "src/lib/plain-name.ts",
    find: "\\p{Default_Ignorable_Code_Point}",
    replace: "",
    tests: ["src/lib/plain-name.test.ts"],
  },
  {
    name: "alerts mail anybody",
    file: "src/admin/alerts/recipients.ts",
    find: "return member !== null && !member.isDisabled && covers(member, organizations);",
    replace: "return !member?.isDisabled;",
    tests: ["src/admin/alerts/recipients.test.ts"],
  },
  {
    name: "a mail is sent to whom its rule names, whoever may get it now",
    file: "src/alerts/mail.ts",
    find: "if (await isRecipient(mail.recipient, mail.organizationId)) {",
    replace: "if (mail.recipient) {",
    tests: ["test/contracts/alerts.test.ts"],
  },
  {
    name: "a mail goes to members of any organization",
    file: "src/storage/tables/alert-watch.ts",
    find: "organizationId: emptyAsNull(),",
    replace: "organizationId: { read: () => undefined as never, write: () => null },",
    tests: ["test/contracts/alerts.test.ts"],
  },
  {
    name: "pictures and tokens of a channel come from any address",
    file: NETWORK,
    find: "  if (!guard) return await fetch(link, init);",
    replace: "  if (!guard || !isProxied) return await fetch(link, init);",
    tests: networks,
  },
  {
    name: "texts of a channel go to any address",
    file: "src/providers/transport/http.ts",
    find: "guard ? { ...request, guard } : request",
    replace: "guard ? { ...request } : request",
    tests: networks,
  },
  {
    name: "a command makes a master key beside secrets that another has sealed",
    file: "src/run/reload.ts",
    find: "if (stored.size === 0 || (current && isKnown))",
    replace: "if (true)",
    tests: ["test/e2e/cli-configuration.test.ts"],
  },
  {
    name: "the verdict of readiness tells whoever asks whom it concerns",
    file: "src/server/endpoints/health.ts",
    find: "if (!isTold) return",
    replace: "if (false) return",
    tests: ["test/e2e/metrics-access.test.ts"],
  },
];
