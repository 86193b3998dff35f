import { expect, test } from "bun:test";
import { z } from "zod";
import { operations } from "../../../admin/operations.ts";
import type { AuditAction, ChangeKind } from "../../../admin/audit/schema.ts";
import { TOKEN_CATEGORIES } from "../../../domain/usage.ts";
import { ACTIONS, AUDIT_KINDS } from "../../areas/audit/audit-words.ts";
import * as en from "../../texts/en/index.ts";
import * as zh from "../../texts/zh/index.ts";
import { LIMITS } from "../forms/limits-field.tsx";
import { FIELDS, HIDDEN } from "./change-words.ts";

/** Operations whose responses have the fields of the records in the audit log. */
const RECORDS = [
  "organizations.get",
  "keys.get",
  "budgets.list",
  "prices.list",
  "members.list",
  "tokens.list",
  "webhooks.list",
  "alerts.list",
] as const;

/** Fields of entries about actions that change no record, and fields of records that no response contains. */
const OTHERS = [
  ["refund", ["reason", "amount", "currency"]],
  ["correct prices", Object.keys(operations["priceCorrections.preview"].output.shape)],
  ["archive", ["month", "file", "entries", "sha256"]],
  ["sign in", ["way", "identity"]],
  ["sign out", ["sessions"]],
  ["test, list models", ["provider", "address"]],
  ["use", ["session"]],
  ["export", ["format", "rows", "isWhole"]],
  ["rotate", ["prefix", "overlapEndsAt", "overlapMs", "secrets"]],
  ["remove prompts", ["removed"]],
] as const;

/** Fields that no entry of the audit log shows. */
const NOT_SHOWN = new Set([
  // Fields that only responses have.
  "forecast",
  "hasIdentity",
  "hasMail",
  "hasPassword",
  "keyName",
  "next",
  // Fields of objects in a list. Of such a list, only the name is shown.
  "channel",
  "upstreamModel",
  "weight",
  // Mappings. The names in a mapping are shown instead of the mapping's name; names of features are shown as code.
  "limits",
  "perImage",
  "perMillion",
  "perUse",
]);

test("each field of an entry in the audit log has a text in every language", () => {
  const records = RECORDS.flatMap((name) => fieldsOf(schemaOf(operations[name].output)));
  const found = new Set<string>([...records, ...OTHERS.flatMap(([, names]) => names), ...TOKEN_CATEGORIES]);
  const known = new Set<string>([...FIELDS, ...LIMITS, ...NOT_SHOWN]);
  expect([...found].filter((name) => !known.has(name) && !HIDDEN.test(name)).toSorted()).toEqual([]);
  for (const { settings } of [en, zh])
    expect(FIELDS.filter((name) => !(`field.${name}` in settings))).toEqual([]);
});

test("each kind and each action of the audit log has a text", () => {
  type Unlisted =
    Exclude<ChangeKind, (typeof AUDIT_KINDS)[number]> | Exclude<AuditAction, (typeof ACTIONS)[number]>;
  const unlisted: Unlisted[] = [];
  expect(unlisted satisfies never[]).toEqual([]);
  for (const { settings } of [en, zh]) {
    const names = [
      ...AUDIT_KINDS.map((kind) => `kind.${kind}`),
      ...ACTIONS.map((action) => `action.${action}`),
    ];
    expect(names.filter((name) => !(name in settings))).toEqual([]);
  }
});

type Schema = z.core.JSONSchema.BaseSchema;

function schemaOf(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

/** Returns the names of fields without fields of their own. Names in mappings, such as ids of models, are left out. */
function fieldsOf(schema: Schema): string[] {
  const variants = [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    schema.additionalProperties ?? [],
    schema.items ?? [],
  ];
  return [
    ...variants.flat().flatMap((part) => (typeof part === "object" ? fieldsOf(part) : [])),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
      if (typeof part !== "object") return [];
      const below = fieldsOf(part);
      return below.length === 0 ? [name] : below;
    }),
  ];
}
