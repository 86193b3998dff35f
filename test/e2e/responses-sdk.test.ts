import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI6 from "openai-6";
import { zodTextFormat } from "openai-6/helpers/zod";
import OpenAI7 from "openai";
import { z } from "zod";
import type { Behaviour } from "../upstreams/behaviour.ts";
import { expectLawfulEvents, responseSchema, type StreamEvent } from "../support/responses-schema.ts";
import {
  LIMITED,
  NATIVE,
  openResponsesFixture,
  OVER_CHAT,
  type ResponsesFixture,
} from "../support/responses-gateway.ts";

/*
 * Official clients of both generations, with the sandbox, a vendor of the responses protocol and one of chat
 * completions.
 */
let fixture: ResponsesFixture;
beforeAll(async () => {
  fixture = await openResponsesFixture();
});
afterEach(() => {
  fixture.vendor.reset();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const WEATHER = {
  type: "function" as const,
  name: "get_weather",
  description: "Tells the weather.",
  strict: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};
const PATCH = { type: "custom" as const, name: "apply_patch", description: "Edits files." };
const QUESTION = "What makes a harbour quiet?";

const clientOf = (Client: typeof OpenAI7, maxRetries = 0) =>
  new Client({ apiKey: fixture.gateway.key, baseURL: `${fixture.gateway.url}/v1`, maxRetries });

const failureOf = (call: PromiseLike<unknown>) =>
  call.then(
    () => null,
    (thrown: unknown) => thrown,
  );

const CLIENTS = [
  ["openai 6", OpenAI6 as unknown as typeof OpenAI7],
  ["openai 7", OpenAI7],
] as const;
const MODELS = [NATIVE, OVER_CHAT, "sandbox-chat"];

describe.each(CLIENTS)("%s", (_, Client) => {
  describe.each(MODELS)("on %s", (model) => {
    test("a response has text, usage, public model and request id, and is charged once", async () => {
      const requestId = `responses-${Client === OpenAI7 ? 7 : 6}-${model}`;
      const response = await clientOf(Client).responses.create(
        { model, input: QUESTION, instructions: "Be brief.", store: true },
        { headers: { "X-Request-Id": requestId } },
      );
      const { output_text: text, ...body } = response;
      expect(text.length).toBeGreaterThan(5);
      responseSchema.parse(body);
      expect(body).toMatchObject({ model, status: "completed" });
      expect(response._request_id).toBe(requestId);
      const [row, ...others] = await fixture.gateway.charged(requestId);
      expect(others).toEqual([]);
      expect(row).toMatchObject({ kind: "charge", model, flags: [] });
      const { tokens = {} } = row!.consumed!;
      const billed = Object.values(tokens).reduce((sum, count) => sum + count, 0);
      expect(response.usage!.total_tokens).toBe(billed);
    });

    test("the tokens of a request are counted, free of charge", async () => {
      const requestId = `count-${Client === OpenAI7 ? 7 : 6}-${model}`;
      const body = { model, input: QUESTION, instructions: "Be brief." };
      const headers = { "X-Request-Id": requestId };
      const count = await clientOf(Client).responses.inputTokens.count(body, { headers });
      expect(count.object).toBe("response.input_tokens");
      const { usage } = await clientOf(Client).responses.create(body);
      if (model === NATIVE)
        expect(fixture.vendor.hits[0]).toMatchObject({ path: "/v1/responses/input_tokens" });
      // For a vendor of another protocol, the count is an estimate.
      else expect(Math.abs(count.input_tokens - usage!.input_tokens)).toBeLessThan(15);
      if (model === "sandbox-chat") expect(count.input_tokens).toBe(usage!.input_tokens);
      expect((await fixture.gateway.ledger()).filter((row) => row.request_id === requestId)).toEqual([]);
    });

    test("a stream has every event in the order of the published schema", async () => {
      const stream = await clientOf(Client).responses.create({ model, input: QUESTION, stream: true });
      const events: StreamEvent[] = [];
      for await (const event of stream) events.push(event as StreamEvent);
      expectLawfulEvents(events);
      expect(events.at(-1)!["response"].model).toBe(model);
    });

    test("the stream helper carries a conversation through a tool call", async () => {
      const client = clientOf(Client);
      const input: OpenAI7.Responses.ResponseInput = [{ role: "user", content: QUESTION }];
      const first = await client.responses
        .stream({ model, input, tools: [WEATHER], store: false })
        .finalResponse();
      const call = first.output.find((item) => item.type === "function_call")!;
      expect(call.name).toBe("get_weather");
      expect(JSON.parse(call.arguments)).toEqual({ city: expect.any(String) });
      const next = [
        ...input,
        ...first.output.filter(({ type }) => type !== "reasoning"),
        { type: "function_call_output" as const, call_id: call.call_id, output: "Calm, 12 °C" },
      ];
      const final = await client.responses
        .stream({ model, input: next as OpenAI7.Responses.ResponseInput, tools: [WEATHER] })
        .finalResponse();
      expect(final.status).toBe("completed");
      expect(final.output_text.length).toBeGreaterThan(0);
    });

    test("an output cap ends the response as incomplete", async () => {
      const response = await clientOf(Client).responses.create({
        model,
        input: "Write 300 words. [[reply tokens=300]]",
        max_output_tokens: 20,
        reasoning: { effort: "none" },
      });
      expect(response).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
      });
    });

    test("a structured answer is parsed", async () => {
      fixture.vendor.next({ text: '{"city":"Oslo","degrees":7}' });
      const schema = z.object({ city: z.string(), degrees: z.number() });
      const request = { model, input: QUESTION, text: { format: zodTextFormat(schema, "weather") } };
      const response = await clientOf(Client).responses.parse(request as never);
      const answer = { city: expect.any(String), degrees: expect.any(Number) };
      expect(response.output_parsed as unknown).toEqual(answer);
    });

    test("a client of a store is told that there is none", async () => {
      const { responses } = clientOf(Client);
      const create = responses.create({ model, input: QUESTION, previous_response_id: "resp_1" });
      expect(await failureOf(create)).toMatchObject({
        status: 400,
        code: "unsupported_parameter",
        param: "previous_response_id",
      });
      expect(await failureOf(responses.retrieve("resp_1"))).toMatchObject({ status: 404, code: "not_found" });
    });
  });

  describe.each([NATIVE, OVER_CHAT] as const)("on %s", (model) => {
    test("a custom tool is called with free text", async () => {
      const client = clientOf(Client);
      const request = { model, input: QUESTION, tools: [PATCH], stream: true as const };
      const events: StreamEvent[] = [];
      for await (const event of await client.responses.create(request)) events.push(event as StreamEvent);
      expectLawfulEvents(events);
      const { output } = events.at(-1)!["response"];
      const call = output.find(({ type }: StreamEvent) => type === "custom_tool_call");
      expect(call).toMatchObject({ name: "apply_patch", input: expect.any(String) });
      expect(call.input).not.toStartWith('{"input"');
      const whole = await client.responses.create({ model, input: QUESTION, tools: [PATCH] });
      expect(whole.output.at(-1)).toMatchObject({ type: "custom_tool_call", name: "apply_patch" });
    });

    test("the vendor's limit is a rate limit error with its Retry-After", async () => {
      fixture.vendor.next({ fault: "rate-limited", retryAfter: "7" });
      const error = await failureOf(
        clientOf(Client).responses.create({ model: LIMITED[model], input: Client === OpenAI7 ? "7" : "6" }),
      );
      expect(error).toMatchObject({ status: 429, code: "rate_limit_exceeded", type: "rate_limit_exceeded" });
    });

    test("what the gateway answers with 503 is retried by the client", async () => {
      const failure: Behaviour = { fault: "error-status", status: 500 };
      fixture.vendor.next(failure, failure);
      const response = await clientOf(Client, 1).responses.create({ model, input: QUESTION });
      expect(response.status).toBe("completed");
      expect(fixture.vendor.hits.length).toBe(3);
    });

    test("a stream that breaks throws, after `response.failed`", async () => {
      // More bytes than one read of a socket returns. So the gateway sends content before the error arrives.
      fixture.vendor.next({ fault: "error-frame-later", tokens: 2_000, frames: 2_000, after: 1_500 });
      const stream = await clientOf(Client).responses.create({ model, input: QUESTION, stream: true });
      const events: StreamEvent[] = [];
      let thrown: unknown = null;
      try {
        for await (const event of stream) events.push(event as StreamEvent);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({ code: "overloaded" });
      expect(events.at(-1)!.type).toBe("response.failed");
    });

    test("an input that is too long has its own code", async () => {
      fixture.vendor.next("context-length");
      const create = clientOf(Client).responses.create({ model, input: QUESTION, stream: true });
      expect(await failureOf(create)).toMatchObject({ status: 400, code: "context_length_exceeded" });
    });
  });
});
