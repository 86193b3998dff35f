import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type } from "@google/genai";
import { ApiError as NextApiError, GoogleGenAI as NextGoogleGenAI } from "google-genai-3";
import {
  BUDGET,
  FAULTY,
  LEVEL,
  nanosOf,
  openNativeText,
  type NativeTextFixture,
} from "../support/native-text.ts";

/* Unmodified official clients of two generations, for the built-in sandbox and a simulated vendor. */
let fixture: NativeTextFixture;

beforeAll(async () => {
  fixture = await openNativeText();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.vendor.reset());

type Client = Pick<GoogleGenAI, "models" | "chats">;

const options = (headers: Record<string, string> = {}) => ({
  apiKey: fixture.gateway.key,
  httpOptions: { baseUrl: fixture.gateway.url, headers },
});

const GENERATIONS: [string, (headers?: Record<string, string>) => Client, new (...args: never[]) => Error][] =
  [
    ["2", (headers) => new GoogleGenAI(options(headers)), ApiError],
    ["3", (headers) => new NextGoogleGenAI(options(headers)) as unknown as Client, NextApiError],
  ];

const WEATHER = {
  functionDeclarations: [
    {
      name: "get_weather",
      description: "The weather of a city",
      parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ["city"] },
    },
  ],
};

let ids = 0;
const newId = () => `native-text-${ids++}`;

for (const [generation, open, ErrorClass] of GENERATIONS) {
  describe(`the client of generation ${generation}`, () => {
    describe.each([LEVEL, BUDGET, "sandbox-chat"])("on %s", (model) => {
      test("generates text under the public name and is billed what it is shown", async () => {
        const requestId = newId();
        const reply = await open({ "X-Request-Id": requestId }).models.generateContent({
          model,
          contents: "Describe a harbour",
          config: { systemInstruction: "Be brief.", temperature: 0.5, maxOutputTokens: 500 },
        });
        expect(reply.text!.length).toBeGreaterThan(3);
        expect(reply.modelVersion).toBe(model);
        expect(reply.candidates![0]).toMatchObject({ finishReason: "STOP", index: 0 });
        const usage = reply.usageMetadata!;
        const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage;
        expect(usage.totalTokenCount).toBe(promptTokenCount + candidatesTokenCount + thoughtsTokenCount);
        const [row, ...others] = await fixture.gateway.charged(requestId);
        expect(others).toEqual([]);
        expect(row).toMatchObject({ kind: "charge", model, flags: [], consumed: { source: "upstream" } });
        if (model !== "sandbox-chat") expect(row!.amount).toBe(nanosOf(usage));
      });

      test("streams the same text in pieces, usage last, and is billed that", async () => {
        const requestId = newId();
        const request = { model, contents: "Describe a harbour" };
        const whole = await open().models.generateContent(request);
        const stream = await open({ "X-Request-Id": requestId }).models.generateContentStream(request);
        const chunks = [];
        for await (const chunk of stream) chunks.push(chunk);
        expect(chunks.length).toBeGreaterThan(2);
        expect(chunks.map(({ text = "" }) => text).join("")).toBe(whole.text!);
        expect(new Set(chunks.map(({ modelVersion }) => modelVersion))).toEqual(new Set([model]));
        expect(chunks.filter(({ candidates }) => candidates?.[0]?.finishReason).length).toBe(1);
        const usage = chunks.at(-1)!.usageMetadata!;
        expect(usage.totalTokenCount).toBeGreaterThan(0);
        const [row] = await fixture.gateway.charged(requestId);
        expect(row!.flags).toEqual([]);
        if (model !== "sandbox-chat") expect(row!.amount).toBe(nanosOf(usage));
      });

      test("a chat keeps its history", async () => {
        const chat = open().chats.create({ model });
        await chat.sendMessage({ message: "A lighthouse" });
        for await (const chunk of await chat.sendMessageStream({ message: "Now at night" }))
          expect(chunk.modelVersion).toBe(model);
        const last = await chat.sendMessage({ message: "And by day" });
        expect(last.text!.length).toBeGreaterThan(3);
        // The client stores each event of a stream as a model turn. So only user turns are counted.
        expect(chat.getHistory().filter(({ role }) => role === "user")).toHaveLength(3);
      });

      test("calls a function and answers from its result", async () => {
        const { models } = open();
        const contents: object[] = [{ role: "user", parts: [{ text: "The weather in Oslo?" }] }];
        const config = { tools: [WEATHER] };
        const first = await models.generateContent({ model, contents, config });
        const [call, ...others] = first.functionCalls!;
        expect(others).toEqual([]);
        expect(call).toMatchObject({ name: "get_weather", args: { city: expect.any(String) } });
        const { id, name } = call!;
        const result = { functionResponse: { ...(id && { id }), name, response: { output: "Calm, 12 °C" } } };
        contents.push(first.candidates![0]!.content!, { role: "user", parts: [result] });
        const second = await models.generateContent({ model, contents, config });
        expect(second.functionCalls).toBeUndefined();
        expect(second.text!.length).toBeGreaterThan(3);
      });

      test("calls a function within a stream", async () => {
        const config = {
          tools: [WEATHER],
          toolConfig: {
            functionCallingConfig: {
              mode: FunctionCallingConfigMode.ANY,
              allowedFunctionNames: ["get_weather"],
            },
          },
        };
        const stream = await open().models.generateContentStream({ model, contents: "Weather?", config });
        const calls = [];
        for await (const chunk of stream) calls.push(...(chunk.functionCalls ?? []));
        expect(calls).toMatchObject([{ name: "get_weather", args: { city: expect.any(String) } }]);
      });

      test("gives JSON that fits a schema", async () => {
        const schema = {
          type: Type.OBJECT,
          properties: { name: { type: Type.STRING } },
          required: ["name"],
        };
        const reply = await open().models.generateContent({
          model,
          contents: "A harbour as JSON",
          config: { responseMimeType: "application/json", responseSchema: schema },
        });
        expect(JSON.parse(reply.text!)).toEqual({ name: expect.any(String) });
      });
    });

    test.each([LEVEL, BUDGET, "sandbox-chat"])(
      "counts the tokens that a request of %s is billed",
      async (model) => {
        const { models } = open();
        const contents = "Describe a harbour in three sentences";
        const { totalTokens } = await models.countTokens({ model, contents });
        const reply = await models.generateContent({ model, contents });
        expect(totalTokens).toBe(reply.usageMetadata!.promptTokenCount!);
      },
    );

    test("lists models and gets one", async () => {
      const { models } = open();
      const names = [];
      for await (const model of await models.list({ config: { pageSize: 3 } })) names.push(model.name);
      expect(names).toContain(`models/${LEVEL}`);
      expect(names).toContain("models/sandbox-b-fast");
      expect(names).not.toContain("models/sandbox-a");
      expect(new Set(names).size).toBe(names.length);
      const model = await models.get({ model: LEVEL });
      expect(model).toMatchObject({ name: `models/${LEVEL}`, outputTokenLimit: 65_536 });
    });

    describe("an error is the client's class with the body as its message:", () => {
      const failureOf = async (call: Promise<unknown>) => {
        const thrown: unknown = await call.then(
          () => undefined,
          (error: unknown) => error,
        );
        if (!(thrown instanceof ErrorClass)) throw new Error("no error of the client's kind");
        // When an error arrives inside a stream, the client adds text before the body.
        const body = thrown.message.slice(thrown.message.indexOf("{"));
        return (JSON.parse(body) as { error: { code: number; status: string; details: object[] } }).error;
      };
      const generate = (model: string, contents = "hi") => open().models.generateContent({ model, contents });

      test("an unknown model", async () => {
        const failure = await failureOf(generate("nobody"));
        expect(failure).toMatchObject({ status: "INVALID_ARGUMENT" });
        expect(JSON.stringify(failure)).toContain("model_not_available_for_routing");
        await expect(failureOf(open().models.get({ model: "nobody" }))).resolves.toMatchObject({ code: 404 });
      });

      test("a wrong key", async () => {
        const wrong = open({ Authorization: "Bearer gk_wrong" });
        const failure = await failureOf(wrong.models.generateContent({ model: LEVEL, contents: "hi" }));
        expect(failure).toMatchObject({ code: 401, status: "UNAUTHENTICATED" });
      });

      test.each([
        ["[[rate-limited]]", 429, "RESOURCE_EXHAUSTED"],
        ["[[error-status text=UNAVAILABLE]]", 503, "UNAVAILABLE"],
        ["[[unauthorized]]", 502, "UNAVAILABLE"],
      ])("%s of the vendor", async (marker, code, status) => {
        const failure = await failureOf(generate(`${FAULTY}-${generation}-${code}`, marker));
        expect(failure).toMatchObject({ code, status });
        // With every vendor, the type of a detail contains the name of the protocol's owner.
        const told = JSON.stringify(failure).replaceAll("type.googleapis.com/google.rpc.", "");
        expect(told).not.toMatch(/google|gemini|generativelanguage|AIza/i);
      });

      test("an error inside a stream", async () => {
        const contents = "[[error-frame-later after=2 frameDelayMs=50]]";
        const stream = await open().models.generateContentStream({
          model: `${FAULTY}-${generation}-stream`,
          contents,
        });
        const texts: string[] = [];
        const reading = (async () => {
          for await (const chunk of stream) texts.push(chunk.text ?? "");
        })();
        expect(await failureOf(reading)).toMatchObject({ status: "UNAVAILABLE" });
        expect(texts.join("")).toBe("word0 word1 word2 ");
      });
    });
  });
}
