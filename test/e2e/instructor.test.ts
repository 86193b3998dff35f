import createInstructor from "@instructor-ai/instructor";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai-6";
import { z } from "zod/v3";
import { openMatrix, type MatrixFixture, type VendorName } from "../support/text-matrix.ts";

/* Unmodified Instructor in each of its modes, for the sandbox and vendors of every protocol. */
let fixture: MatrixFixture;
beforeAll(async () => {
  fixture = await openMatrix();
});
afterEach(() => Object.values(fixture.vendors).forEach((vendor) => vendor.reset()));
afterAll(() => fixture[Symbol.asyncDispose]());

type Mode = Parameters<typeof createInstructor>[0]["mode"];

function ask(mode: Mode, model: string, stream: boolean): Promise<unknown> {
  const { key, url } = fixture.gateway;
  // Instructor's types require an older client.
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` }) as never;
  const { chat } = createInstructor<OpenAI>({ client, mode, logger: () => {} });
  return chat.completions.create({
    model,
    stream,
    messages: [{ role: "user", content: "Where?" }],
    response_model: { schema: z.object({ city: z.string() }) as never, name: "Place" },
  }) as Promise<unknown>;
}

const VENDORS = ["over-chat", "over-messages", "over-native", "over-responses"] as const;
const answer = (model: string, text: string) =>
  model === "sandbox-chat" || fixture.vendors[model as VendorName].next({ text });

describe.each<[Mode, readonly string[]]>([
  // `over-messages` is missing, because that simulator's arguments do not match the schema.
  ["TOOLS", ["sandbox-chat", "over-chat", "over-native", "over-responses"]],
  ["FUNCTIONS", ["over-chat"]],
  ["JSON", VENDORS],
  ["JSON_SCHEMA", ["sandbox-chat", ...VENDORS]],
])("in mode %s", (mode, models) => {
  test.each(models)("%s gives what the schema asks, whole and streamed", async (model) => {
    answer(model, '{"city":"value"}');
    expect(await ask(mode, model, false)).toMatchObject({ city: expect.any(String) });
    answer(model, '{"city":"value"}');
    let last: unknown;
    for await (const each of (await ask(mode, model, true)) as AsyncIterable<unknown>) last = each;
    expect(last).toMatchObject({ city: expect.any(String) });
  });
});

// Instructor cannot stream in these modes.
describe.each<Mode>(["MD_JSON", "THINKING_MD_JSON"])("in mode %s", (mode) => {
  test.each(VENDORS)("%s gives what the schema asks", async (model) => {
    answer(model, '```json\n{"city":"value"}\n```');
    expect(await ask(mode, model, false)).toMatchObject({ city: "value" });
  });
});

test.each(["over-messages", "over-native"] as const)(
  "functions, which only vendors of chat take, are refused by name for %s",
  async (model) => {
    const error = await ask("FUNCTIONS", model, false).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, param: "function_call" });
    expect(fixture.vendors[model].hits).toHaveLength(0);
  },
);
