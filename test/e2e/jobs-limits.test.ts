import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { submit, untilStatus } from "../support/job-calls.ts";
import { makePng } from "../support/pictures.ts";
import { fixtureYaml, IMAGE, readError } from "../support/vendor.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";

/* Reasons to refuse a submission. The shared gateway runs no jobs. A picture of this model costs 0.02. */
const MODEL = "sandbox-a";
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ env: { JOBS_CONCURRENCY: "0" } });
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

const body = { model: MODEL, prompt: "a lighthouse", quality: "medium" };
const createKey = async (...args: string[]) => {
  const { secret } = JSON.parse(await gateway.cli("keys", "create", "--name", "k", "--json", ...args));
  return { authorization: `Bearer ${secret}` };
};
const blobs = () => {
  const folder = join(gateway.dataDirectory, "blobs");
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  return names.filter((name) => String(name).endsWith(".bin"));
};

test("a key with enough jobs waiting is told when to come back", async () => {
  const headers = await createKey("--limit", "queued_jobs=2");
  const [first] = [await submit(gateway, body, { headers }), await submit(gateway, body, { headers })];
  const refused = await gateway.call("/api/jobs", { body, headers });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  expect(await readError(refused)).toMatchObject({ code: "rate_limit_exceeded" });
  await gateway.call(`/api/jobs/${first.id}/cancel`, { method: "POST", headers });
  await submit(gateway, body, { headers });
});

test("a budget is held by waiting jobs, and free again when they are cancelled", async () => {
  const headers = await createKey("--scope", "ai:image");
  const keys = JSON.parse(await gateway.cli("keys", "list", "--json")) as { id: string; createdAt: string }[];
  const { id: key } = keys.toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))[0]!;
  await gateway.cli("budgets", "create", "--key", key, "--amount", "0.05");
  await until("the budget to be in force", async () => {
    const response = await gateway.call("/v1/images/generations", { body: { ...body, n: 4 }, headers });
    return response.status === 429 ? true : undefined;
  });
  const listed = async () => {
    const budgets = JSON.parse(await gateway.cli("budgets", "list", "--json")) as Record<string, string>[];
    return budgets.find((budget) => budget["keyId"] === key)!;
  };
  const { spent } = await listed();
  const rest = Math.floor((0.05 - Number(spent)) / 0.02);
  const jobs: string[] = [];
  for (let index = 0; index < rest; index += 1) jobs.push((await submit(gateway, body, { headers })).id);
  const refused = await gateway.call("/api/jobs", { body, headers });
  expect(await readError(refused)).toMatchObject({ code: "BILLING_BLOCKED" });
  for (const id of jobs) await gateway.call(`/api/jobs/${id}/cancel`, { method: "POST", headers });
  await until("the money to be free", async () =>
    Number((await listed())["held"]) === 0 ? true : undefined,
  );
});

test("files of a refused or cancelled job are removed", async () => {
  const image = `data:image/png;base64,${Buffer.from(makePng(200, 200)).toString("base64")}`;
  const form = new FormData();
  form.append("model", MODEL);
  form.append("prompt", "x");
  form.append("image", new Blob([makePng(40, 30)]), "a.png");
  expect(blobs()).toEqual([]);
  const { id } = await submit(gateway, form);
  expect(blobs()).toHaveLength(1);
  await gateway.call(`/api/jobs/${id}/cancel`, { method: "POST" });
  expect(blobs()).toEqual([]);
  const headers = await createKey("--limit", "queued_jobs=0");
  await until("the key to be known", async () => {
    const { status } = await gateway.call("/api/jobs", { body: { ...body, image }, headers });
    return status === 429 ? true : undefined;
  });
  expect(blobs()).toEqual([]);
});

test("a key whose cancelled jobs have cost too much submits no more", async () => {
  await using vendor = await startOpenAi();
  await using running = await startTestGateway({
    yaml: `${fixtureYaml(vendor.url)}\nbilling: { orphan_cost_per_key_hour: "0.000000001" }\n`,
    env: { VENDOR_KEY: SIMULATED_KEY },
  });
  const abandoned = { model: IMAGE, prompt: "[[reply delayMs=60000]]" };
  const { id } = await submit(running, abandoned);
  await vendor.waitForHits(1);
  await running.call(`/api/jobs/${id}/cancel`, { method: "POST" });
  await untilStatus(running, id);
  const refused = await until("the cost to be counted", async () => {
    const response = await running.call("/api/jobs", { body: abandoned });
    return response.status === 429 ? response : undefined;
  });
  expect(await readError(refused)).toMatchObject({
    code: "rate_limit_exceeded",
    message: expect.stringContaining("abandoned"),
  });
});
