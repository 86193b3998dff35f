import { expect, test } from "bun:test";
import Ajv from "ajv/dist/2020.js";
import { chatSchema, readRequest as readChat } from "./chat/index.ts";
import { embeddingsSchema, readRequest as readEmbeddings } from "./embeddings/index.ts";
import { editSchema, generationSchema, readEdit, readGeneration } from "./images/index.ts";
import type { JsonSchema } from "./fields.ts";
import {
  countSchema,
  messagesSchema,
  readCountRequest,
  readRequest as readMessages,
} from "./messages/index.ts";
import { nativeSchema, readRequest as readNative } from "./native/text/index.ts";
import { readRequest as readResponses, responsesSchema } from "./responses/index.ts";

type Body = Record<string, unknown>;

interface Interface {
  schema: JsonSchema;
  read(bytes: Uint8Array): unknown;
  /** A body that is accepted. */
  valid: Body;
  /** Returns the body with an additional field, by default at the top level. */
  put?(field: Body): Body;
}

const headers = new Headers();
const messages = [{ role: "user", content: "hi" }];
const contents = [{ parts: [{ text: "hi" }] }];
const call = { model: "m", isStream: false };

function entriesOf(bytes: Uint8Array): [string, unknown][] {
  return Object.entries(JSON.parse(Buffer.from(bytes).toString()) as Body);
}

function memberOf(schema: JsonSchema, name: string): JsonSchema {
  const property = (schema["properties"] as Record<string, JsonSchema>)[name]!;
  return (property["anyOf"] as JsonSchema[])[0]!;
}

const config = memberOf(nativeSchema, "generationConfig");
const readGenerate = (bytes: Uint8Array) => readNative(bytes, call);

const INTERFACES: Readonly<Record<string, Interface>> = {
  chat: { schema: chatSchema, read: readChat, valid: { model: "m", messages } },
  messages: {
    schema: messagesSchema,
    read: (bytes) => readMessages(bytes, headers),
    valid: { model: "m", messages, max_tokens: 9 },
  },
  "messages to count": {
    schema: countSchema,
    read: (bytes) => readCountRequest(bytes, headers),
    valid: { model: "m", messages },
  },
  responses: { schema: responsesSchema, read: readResponses, valid: { model: "m", input: "hi" } },
  pictures: {
    schema: generationSchema,
    read: (bytes) => readGeneration(entriesOf(bytes)),
    valid: { model: "m", prompt: "a lighthouse" },
  },
  edits: {
    schema: editSchema,
    read: (bytes) => readEdit(entriesOf(bytes), false),
    valid: { model: "m", prompt: "a lighthouse", image: "aGk=" },
  },
  embeddings: { schema: embeddingsSchema, read: readEmbeddings, valid: { model: "m", input: "hi" } },
  native: { schema: nativeSchema, read: readGenerate, valid: { contents } },
  "native configuration": {
    schema: config,
    read: readGenerate,
    valid: {},
    put: (generationConfig) => ({ contents, generationConfig }),
  },
  "native thinking": {
    schema: memberOf(config, "thinkingConfig"),
    read: readGenerate,
    valid: {},
    put: (thinkingConfig) => ({ contents, generationConfig: { thinkingConfig } }),
  },
};

/** Values of each JSON type. A field accepts some of them and must refuse all others. */
const VALUES = [
  null,
  true,
  false,
  -1,
  0,
  1,
  1.5,
  1e300,
  "x",
  "float",
  ["x"],
  [1],
  [[1]],
  [true],
  [{ type: "x" }],
  [{ role: "user" }, "x"],
  { type: "x" },
];

/** Fields with pictures or their settings. Other code checks the values. */
const READ_ELSEWHERE = new Set(["imageConfig", "image", "mask"]);

for (const [name, { schema, read, valid, put = (body: Body) => body }] of Object.entries(INTERFACES))
  test(`${name}: a field's published schema accepts what the check accepts`, async () => {
    const isDescribed = new Ajv({ strict: false }).compile(schema);
    expect(isDescribed(valid)).toBe(true);
    const fields = Object.keys(schema["properties"] as object).filter((field) => !READ_ELSEWHERE.has(field));
    const different: string[] = [];
    for (const field of fields) {
      const given = field in valid ? [valid[field]] : [];
      const values = [...VALUES, ...given];
      const accepted = new Set<unknown>();
      for (const value of values) {
        const body = { ...valid, [field]: value };
        const isAccepted = await accepts(read, put(body));
        if (isAccepted) accepted.add(value);
        if (isAccepted !== isDescribed(body))
          different.push(`${field} ${JSON.stringify(value)}: ${isAccepted}`);
      }
      expect([field, accepted.size > 0, accepted.size < values.length]).toEqual([field, true, true]);
    }
    expect(different).toEqual([]);
  });

async function accepts(read: Interface["read"], body: Body): Promise<boolean> {
  try {
    await read(Buffer.from(JSON.stringify(body)));
    return true;
  } catch {
    return false;
  }
}
