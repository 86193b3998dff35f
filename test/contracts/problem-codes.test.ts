import { Glob } from "bun";
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { z } from "zod";
import { SECTIONS } from "../../src/admin/document/sections.ts";
import { operations } from "../../src/admin/operations.ts";
import { signInSchema } from "../../src/admin/sign-in/sign-in.ts";
import { channelIdSchema, storedChannelSchema } from "../../src/config/channel-schema.ts";
import { fileModelSchema } from "../../src/config/file-schema.ts";
import {
  embeddingModelSchema,
  imageModelSchema,
  modelIdSchema,
  textModelSchema,
} from "../../src/config/model-schema.ts";
import { OPERATOR_MESSAGES } from "../../src/domain/operator-messages.table.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";

test("every problem of an input has a code, so that the console can translate it", () => {
  const inputs: [name: string, schema: z.ZodType][] = [
    ...Object.entries(operations).map(([name, { input }]): [string, z.ZodType] => [name, input]),
    ...Object.entries(SECTIONS).map(([name, { schema }]): [string, z.ZodType] => [
      `document.${name}`,
      schema,
    ]),
    ...[...PROVIDERS].map(([name, { settings }]): [string, z.ZodType] => [`settings of ${name}`, settings]),
    ["sign-in", signInSchema],
    ["channel", storedChannelSchema],
    ["channel id", channelIdSchema],
    ["model", fileModelSchema],
    ["model id", modelIdSchema],
    ["image model", imageModelSchema],
    ["text model", textModelSchema],
    ["embedding model", embeddingModelSchema],
  ];
  expect(inputs.flatMap(([name, schema]) => partsWithoutCode(schema, name))).toEqual([]);
});

test("every issue that a refinement adds has a code", async () => {
  const source = join(import.meta.dir, "../../src");
  const found: string[] = [];
  for await (const file of new Glob("{admin,config,providers,sandbox}/**/*.ts").scan(source)) {
    const text = await Bun.file(join(source, file)).text();
    if (/addIssue\((?!inputIssue\()|issues\.push\(/.test(text)) found.push(file);
  }
  expect(found).toEqual([]);
});

/** Types of schemas whose issues have a sentence without further words, or that raise no issue of their own. */
const WORDED = new Set(
  "literal enum unknown any null optional nullable default prefault pipe transform readonly".split(" "),
);
const WORDED_CHECKS = new Set(
  "less_than greater_than min_length max_length number_format overwrite".split(" "),
);

interface Part {
  _zod: { def: PartDefinition };
}
interface PartDefinition extends Record<string, unknown> {
  type?: string;
  check?: string;
  error?: object;
  discriminator?: string;
}

/** Returns the paths of the parts of a schema that can raise an issue without a code. */
function partsWithoutCode(part: unknown, path: string, seen = new Set<unknown>()): string[] {
  if (typeof part !== "object" || part === null || seen.has(part)) return [];
  seen.add(part);
  if (!("_zod" in part))
    return Object.entries(part).flatMap(([name, each]) => partsWithoutCode(each, `${path}.${name}`, seen));
  const { def } = (part as Part)._zod;
  const below = Object.entries(def).flatMap(([name, each]) =>
    // An unknown field is an issue of its object.
    name === "catchall"
      ? []
      : partsWithoutCode(def.type === "union" ? reporting(each) : each, `${path}.${name}`, seen),
  );
  return hasCode(def) ? below : [`${path} (${def.type} ${def.check})`, ...below];
}

/** Returns the options of a union that can report an issue: one that transforms leaves this to its union. */
function reporting(options: unknown): unknown {
  if (!Array.isArray(options)) return options;
  return options.filter((option: Part) => option._zod.def.type !== "pipe");
}

/** True when every issue that this part itself raises has a code. */
function hasCode({ type, check, error, ...def }: PartDefinition): boolean {
  if (error) return "hasCode" in error;
  // A refinement without a condition adds its issues itself.
  if (check === "custom") return def["fn"] === undefined;
  if (check !== undefined && !WORDED_CHECKS.has(check)) return false;
  if (type === undefined || WORDED.has(type)) return true;
  return type === "union" ? def.discriminator !== undefined : `expected.${type}` in OPERATOR_MESSAGES;
}
