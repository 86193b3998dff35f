import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { parquetReadObjects } from "hyparquet";
import packageFile from "../../package.json";
import { RUNTIME_VARIABLES } from "../../src/config/environment.ts";
import { isSiteBuilt } from "../documents/pages.ts";
import { HEIC } from "../support/encoded-pictures.table.ts";
import { untilServing } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { startTestGateway, type TestGateway, until } from "../support/gateway.ts";
import { submit, untilStatus } from "../support/job-calls.ts";
import { startS3 } from "../upstreams/s3.ts";

/** This vendor does not count tokens. It is never called. */
const yaml = `
channels:
  house: { provider: openai, base_url: "http://127.0.0.1:9/v1", credential: { env: HOUSE_API_KEY } }
models:
  house-chat:
    type: chat
    max_output_tokens: 8192
    price: { currency: USD, per_million: { input: "0.10", output: "0.40" } }
    route: { targets: [{ channel: house, upstream_model: llama }] }
`;

/*
 * Uses every part that a build of the program could lack: endpoints, threads, workers, the console's page and the
 * command line. `npm run release:check` also runs this test with the package and the executable.
 */
const s3 = startS3();
let gateway: TestGateway;
beforeAll(async () => {
  // These variables are empty here, because the program must set them.
  const unset = Object.fromEntries(Object.keys(RUNTIME_VARIABLES).map((name) => [name, ""]));
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    HOUSE_API_KEY: "secret",
    LEDGER_EXPORT_URL: s3.address.replace("/made/here", "/ledger"),
    ...unset,
  };
  gateway = await startTestGateway({ yaml, env: { ...env, WORKERS: "2", PORT: String(freePort()) } });
  await untilServing(gateway, 2);
}, 30_000);
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await s3.stop();
});

const messages = [{ role: "user", content: "Say hello." }];
const image = { prompt: "A lighthouse at dawn", response_format: "b64_json" };
const native = (model: string) => `/v1beta/models/${model}:generateContent`;

const DOORS: readonly { path: string; body: object; isAnswer: RegExp }[] = [
  { path: "/v1/chat/completions", body: { model: "sandbox-chat", messages }, isAnswer: /"finish_reason"/ },
  {
    path: "/v1/chat/completions",
    body: { model: "sandbox-chat", messages, stream: true },
    isAnswer: /\[DONE\]/,
  },
  {
    path: "/v1/messages",
    body: { model: "sandbox-messages", max_tokens: 50, messages },
    isAnswer: /stop_reason/,
  },
  {
    path: "/v1/responses",
    body: { model: "sandbox-chat", input: "Hello", store: false },
    isAnswer: /output_text/,
  },
  {
    path: native("sandbox-chat"),
    body: { contents: [{ parts: [{ text: "Hello" }] }] },
    isAnswer: /finishReason/,
  },
  {
    path: native("sandbox-b-fast"),
    body: { contents: [{ parts: [{ text: "Dawn" }] }] },
    isAnswer: /inlineData/,
  },
  { path: "/v1/embeddings", body: { model: "sandbox-embedding", input: "Hello" }, isAnswer: /"embedding"/ },
  { path: "/v1/images/generations", body: { ...image, model: "sandbox-a" }, isAnswer: /"b64_json"/ },
];

test.each(DOORS)("$path answers", async ({ path, body, isAnswer }) => {
  const response = await gateway.call(path, { body });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(text).toMatch(isAnswer);
});

test("a text is counted by the thread with the tokenizer's tables", async () => {
  const words = "antidisestablishmentarianism ".repeat(40);
  const body = { model: "house-chat", messages: [{ role: "user", content: words }] };
  const response = await gateway.call("/v1/messages/count_tokens", { body });
  const { input_tokens } = (await response.json()) as { input_tokens: number };
  expect(input_tokens).toBeGreaterThan(200);
  expect(input_tokens).toBeLessThan(250);
});

test("a picture of a phone is decoded, edited, billed and downloaded by its link", async () => {
  const body = new FormData();
  body.append("model", "sandbox-a");
  body.append("prompt", "The same at night");
  body.append("image", new File([HEIC], "phone.heic", { type: "image/heic" }));
  const response = await gateway.call("/v1/images/edits", { body });
  expect(response.status).toBe(200);
  const [charge] = await gateway.charged(response.headers.get("x-request-id")!);
  expect(charge?.amount).toBeGreaterThan(0n);
  const [picture] = ((await response.json()) as { data: { url: string }[] }).data;
  const file = await fetch(picture!.url);
  expect(file.headers.get("content-type")).toBe("image/png");
  expect((await file.bytes()).length).toBeGreaterThan(1_000);
});

test("a job ends with a picture, by a process that only runs jobs too", async () => {
  await using worker = await gateway.startWorker();
  const job = await submit(gateway, { model: "sandbox-a", prompt: image.prompt });
  expect(await untilStatus(gateway, job.id)).toMatchObject({ status: "completed", outputs_count: 1 });
  expect(await worker.stop()).toBe(0);
});

test("the console's page and everything it loads are served", async () => {
  const page = await (await fetch(`${gateway.url}/console`)).text();
  const assets = [...page.matchAll(/\/console\/assets\/[\w.-]+/g)].map(([path]) => path);
  expect(assets.length).toBeGreaterThan(1);
  for (const path of ["/openapi.json", "/healthz", ...assets])
    expect((await fetch(`${gateway.url}${path}`)).status, path).toBe(200);
});

test.skipIf(!isSiteBuilt)("the documents are served", async () => {
  for (const path of ["/docs", "/docs/api", "/docs/llms.txt", "/docs/build/pictures.md"])
    expect((await fetch(`${gateway.url}${path}`)).status, path).toBe(200);
});

test("commands read what the gateway wrote", async () => {
  expect((await gateway.command("--version")).trim()).toBe(packageFile.version);
  expect(await gateway.command("check")).toContain("sandbox-chat");
  expect(await gateway.command("health")).toContain("is ready");
  expect(await gateway.command("ledger", "verify")).toContain("no difference");
  expect(JSON.parse(await gateway.command("keys", "list", "--json"))).toHaveLength(1);
});

test("the runtime has its variables, and a signal ends all processes with 0", async () => {
  const environment = readFileSync(`/proc/${gateway.pid}/environ`, "utf8");
  for (const [name, value] of Object.entries(RUNTIME_VARIABLES))
    expect(environment).toContain(`${name}=${value}`);
  expect(await gateway.stop()).toBe(0);
});

test("the thread that exports the ledger writes what was charged, at the latest after the next start", async () => {
  await gateway.restart();
  const charged = (await gateway.ledger()).map(({ id }) => id);
  const written = await until("every charge in a file", async () => {
    const files = [...s3.objects.entries()].filter(([name]) => /^ledger\/ledger-.*\.parquet$/.test(name));
    const rows = await Promise.all(
      files.map(([, { bytes }]) => parquetReadObjects({ file: bytes.buffer, columns: ["id"] })),
    );
    const ids = rows.flat().map(({ id }) => String(id));
    return ids.length >= charged.length ? ids : undefined;
  });
  expect(written.toSorted()).toEqual(charged.toSorted());
});

test("no thread has ended", () => {
  expect(gateway.logs().filter(({ message }) => String(message).includes("has ended"))).toEqual([]);
});
