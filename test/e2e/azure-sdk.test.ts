import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { AzureOpenAI, toFile } from "openai-6";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";

/* Azure OpenAI's paths, called by the official clients and without a client. */
const MESSAGES = [{ role: "user" as const, content: "Say hello in five words." }];
let gateway: TestGateway;
let client: AzureOpenAI;

beforeAll(async () => {
  gateway = await startTestGateway();
  client = new AzureOpenAI({
    endpoint: gateway.url,
    apiKey: gateway.key,
    apiVersion: "2025-04-01-preview",
    maxRetries: 0,
  });
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

test("chat completions answer whole and as a stream", async () => {
  const whole = await client.chat.completions.create({ model: "sandbox-chat", messages: MESSAGES });
  expect(whole).toMatchObject({ model: "sandbox-chat", choices: [{ finish_reason: "stop" }] });
  const stream = await client.chat.completions.create({
    model: "sandbox-chat",
    messages: MESSAGES,
    stream: true,
  });
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  expect(text).toBe(whole.choices[0]!.message.content!);
});

test("the deployment of the address is the model, whatever the body names", async () => {
  const deployed = new AzureOpenAI({
    endpoint: gateway.url,
    apiKey: gateway.key,
    apiVersion: "2025-04-01-preview",
    deployment: "sandbox-chat",
    maxRetries: 0,
  });
  const reply = await deployed.chat.completions.create({ model: "gpt-5.4", messages: MESSAGES });
  expect(reply.model).toBe("sandbox-chat");
  const headers = { "api-key": gateway.key, "content-type": "application/json" };
  const path = "/openai/deployments/sandbox-chat/chat/completions?api-version=2025-04-01-preview";
  const bare = (body: string) => fetch(gateway.url + path, { method: "POST", headers, body });
  expect(await (await bare(JSON.stringify({ messages: MESSAGES }))).json()).toMatchObject({
    model: "sandbox-chat",
  });
  expect((await bare("{")).status).toBe(400);
  expect((await bare("[]")).status).toBe(400);
});

test("images are made and edited", async () => {
  const made = await client.images.generate({ model: "sandbox-a", prompt: "A pier", size: "1024x1024" });
  expect(made.data?.[0]?.url).toStartWith(gateway.url);
  const image = await toFile(makePng(64, 64), "pier.png", { type: "image/png" });
  const edited = await client.images.edit({ model: "sandbox-a", prompt: "More fog", image });
  expect(edited.data).toHaveLength(1);
});

test("the paths of the newer surface take the key as `api-key` and as a bearer token", async () => {
  const newer = new OpenAI({ baseURL: `${gateway.url}/openai/v1`, apiKey: gateway.key, maxRetries: 0 });
  expect((await newer.responses.create({ model: "sandbox-chat", input: "hello" })).status).toBe("completed");
  const list = await fetch(`${gateway.url}/openai/v1/models`, { headers: { "api-key": gateway.key } });
  expect(await list.text()).toContain("sandbox-chat");
  for (const key of ["", "gk_wrong"])
    expect((await fetch(`${gateway.url}/openai/v1/models`, { headers: { "api-key": key } })).status).toBe(
      401,
    );
});
