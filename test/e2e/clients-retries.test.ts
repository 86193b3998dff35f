import createInstructor from "@instructor-ai/instructor";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { openai, openaiResponses } from "@llamaindex/openai";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai-6";
import { z } from "zod/v3";
import { until } from "../support/gateway.ts";
import { openMatrix, type MatrixFixture } from "../support/text-matrix.ts";

/*
 * Unmodified clients with their default number of retries; Instructor with three. A client must send a request only
 * once when a retry cannot succeed. The AI SDK is not tested, because it repeats every 429.
 */
let fixture: MatrixFixture;
let poorKey: string;

beforeAll(async () => {
  fixture = await openMatrix();
  const { cli } = fixture.gateway;
  const { secret, key } = JSON.parse(await cli("keys", "create", "--name", "poor", "--json"));
  await cli("budgets", "create", "--key", key.id, "--amount", "0.000001", "--period", "month");
  poorKey = secret;
  await until("the budget to be known", async () => {
    const body = { model: "over-chat", messages: [{ role: "user", content: "hi" }] };
    const init = { body, headers: { authorization: `Bearer ${poorKey}` } };
    const { status } = await fixture.gateway.call("/v1/chat/completions", init);
    return status === 429 ? true : undefined;
  });
}, 30_000);
afterAll(() => fixture[Symbol.asyncDispose]());

interface Account {
  apiKey: string;
  model: string;
}
const messages = [{ role: "user" as const, content: "Hello?" }];
const v1 = () => `${fixture.gateway.url}/v1`;

const CLIENTS: Record<string, (account: Account) => Promise<unknown>> = {
  "LangChain over chat": (account) =>
    new ChatOpenAI({ ...account, configuration: { baseURL: v1() } }).invoke("Hello?"),
  "LangChain over messages": (account) =>
    new ChatAnthropic({ ...account, anthropicApiUrl: fixture.gateway.url }).invoke("Hello?"),
  "LangChain over the native protocol": (account) =>
    new ChatGoogleGenerativeAI({ ...account, baseUrl: fixture.gateway.url }).invoke("Hello?"),
  "LlamaIndex over chat": (account) => openai({ ...account, baseURL: v1() }).chat({ messages }),
  "LlamaIndex over responses": (account) => openaiResponses({ ...account, baseURL: v1() }).chat({ messages }),
  Instructor: ({ apiKey, model }) => {
    const client = new OpenAI({ apiKey, baseURL: v1() }) as never;
    const { chat } = createInstructor<OpenAI>({ client, mode: "TOOLS", logger: () => {} });
    const schema = z.object({ city: z.string() }) as never;
    const body = { model, messages, max_retries: 3, response_model: { schema, name: "Place" } };
    return chat.completions.create(body) as Promise<unknown>;
  },
};

/** Returns the number of requests that ended at the gateway during `run`. */
async function requestsOf(run: () => Promise<unknown>): Promise<number> {
  const ended = () => fixture.gateway.logs().filter(({ message }) => message === "request");
  const upTo = async (id: string) => {
    await fixture.gateway.call("/v1/chat/completions", { body: {}, headers: { "x-request-id": id } });
    return until("the line of the last request", () => {
      const index = ended().findIndex((line) => line["request_id"] === id);
      return index < 0 ? undefined : index;
    });
  };
  const before = await upTo(crypto.randomUUID());
  await run();
  return (await upTo(crypto.randomUUID())) - before - 1;
}

describe.each(Object.entries(CLIENTS))("%s", (_, call) => {
  test("asks once with a spent budget", async () => {
    const failure = () => call({ apiKey: poorKey, model: "over-chat" }).catch((error: unknown) => error);
    let error: unknown;
    expect(await requestsOf(async () => (error = await failure()))).toBe(1);
    expect(error).toMatchObject({ status: 429 });
  });

  test("asks once for a model without a price", async () => {
    const account = { apiKey: fixture.gateway.key, model: "without-price" };
    let error: unknown;
    expect(
      await requestsOf(async () => (error = await call(account).catch((thrown: unknown) => thrown))),
    ).toBe(1);
    expect(error).toMatchObject({ status: 402 });
  });
});
