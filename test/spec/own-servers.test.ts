import { afterAll, expect, test } from "bun:test";
import { folderWithCatalogue } from "../support/config-fixture.ts";
import { ConfigurationError, loadSettings } from "../../src/config/index.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { startTestGateway } from "../support/gateway.ts";

/* Servers of the operator: without a credential, with headers, and with an address from the environment. */
const calls: { path: string; headers: Headers }[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    calls.push({ path: pathname, headers: new Headers(request.headers) });
    if (pathname.startsWith("/echo"))
      return Response.json(
        { error: { message: `Not with ${request.headers.get("x-team-token")}. Try again.` } },
        { status: 400 },
      );
    if (pathname.endsWith("/embeddings"))
      return Response.json({
        object: "list",
        model: "m",
        data: [{ object: "embedding", index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    const choice = { index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return Response.json({ id: "c", object: "chat.completion", model: "m", choices: [choice], usage });
  },
});
afterAll(() => server.stop(true));

const model = (channel: string) =>
  `{ type: chat, max_output_tokens: 100, price: { per_million: { input: "1", output: "1" } }, route: { targets: [{ channel: ${channel} }] } }`;

const embedding = (channel: string) =>
  `{ type: embedding, dimensions: 1, price: { per_million: { input: "1" } }, route: { targets: [{ channel: ${channel} }] } }`;

test("a server without a credential is called without one, and gets the channel's headers", async () => {
  const yaml = `
channels:
  keyless: { provider: openai, base_url: "${server.url.href}v1", credential: none }
  team:
    provider: openai
    base_url: "${server.url.href}team/v1"
    credential: { env: VENDOR_KEY }
    headers: { x-team: blue, x-team-token: { env: TEAM_TOKEN } }
  echo: { provider: openai, base_url: "${server.url.href}echo", credential: none, headers: { x-team-token: { env: TEAM_TOKEN } } }
models: { one: ${model("keyless")}, two: ${model("team")}, three: ${model("ollama")}, four: ${model("echo")} , five: ${embedding("ollama")} }
`;
  const env = {
    VENDOR_KEY: "vendor-key",
    TEAM_TOKEN: "team-token-1",
    OLLAMA_BASE_URL: `${server.url.href}ollama/v1`,
  };
  await using gateway = await startTestGateway({ yaml, env });
  const ask = (name: string, content: unknown = "hi") =>
    gateway.call("/v1/chat/completions", { body: { model: name, messages: [{ role: "user", content }] } });
  for (const name of ["one", "two", "three"]) expect((await ask(name)).status).toBe(200);
  const seen = calls.map(({ headers, path }) => [
    path,
    headers.get("authorization"),
    headers.get("x-team"),
    headers.get("x-team-token"),
  ]);
  expect(seen).toEqual([
    ["/v1/chat/completions", null, null, null],
    ["/team/v1/chat/completions", "Bearer vendor-key", "blue", "team-token-1"],
    ["/ollama/v1/chat/completions", null, null, null],
  ]);
  const embedded = await gateway.call("/v1/embeddings", { body: { model: "five", input: "hi" } });
  expect(await embedded.json()).toMatchObject({ model: "five", data: [{ embedding: [0.5] }] });
  const repeated = await (await ask("four")).text();
  expect(repeated).toContain("Try again.");
  expect(repeated).not.toContain("team-token-1");
  // The operator's own server does not fetch callers' links.
  const picture = [{ type: "image_url", image_url: { url: "https://pictures.example/a.png" } }];
  expect((await ask("three", picture)).status).toBe(400);
});

test.each([
  [
    "{ provider: openai, credential: none, headers: { authorization: secret } }",
    "channels.own.headers.authorization: holds a secret",
  ],
  [
    "{ provider: openai, credential: none, headers: { host: a.example } }",
    "is a header that the gateway sets itself",
  ],
  [
    "{ provider: openai, credential: none, headers: { X-Team: a } }",
    "must be the name of a header in small letters",
  ],
  [
    "{ provider: openai, credential: none, headers: { x-team: { env: UNSET } } }",
    "channels.own.headers.x-team: names the environment variable UNSET",
  ],
  ["{ provider: bfl, credential: none }", "channels.own.credential: "],
  [
    "{ provider: bfl, credential: { env: KEY }, headers: { x-team: a } }",
    'channels.own.headers: is not a setting of the provider "bfl"',
  ],
  ["{ provider: openai }", "channels.own.credential: "],
])("a channel %s is refused", async (channel, problem) => {
  await using folder = await folderWithCatalogue({ "gateway.yaml": `channels: { own: ${channel} }` });
  const catalogueDirectory = `${folder.path}/catalogue`;
  const options = { env: { KEY: "k" }, cwd: folder.path, providers: PROVIDERS, catalogueDirectory };
  const error = await loadSettings(options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigurationError);
  const problems = error instanceof ConfigurationError ? error.problems : [];
  expect(problems.map(({ path, message }) => `${path}: ${message}`).join("\n")).toContain(problem);
});
