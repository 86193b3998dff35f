import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { openImageFixture, type ImageFixture } from "../e2e/images-vendors.ts";
import { dataUrl, grain, ONE, TWO } from "../support/edit-gateway.ts";
import { until } from "../support/gateway.ts";
import { look, submit, untilStatus, type WireJob } from "../support/job-calls.ts";
import { makePng } from "../support/pictures.ts";
import { readError } from "../support/vendor.ts";

/* The specified job interface, with the running program and strict simulators of vendors. */
const MODEL = "gpt-image-2.5-flare";
let fixture: ImageFixture;

beforeAll(async () => {
  fixture = await openImageFixture({ alone: [["bfl", "flux-2-pro"]] });
}, 30_000);
afterAll(() => fixture[Symbol.asyncDispose]());
afterEach(() => fixture.reset());

const call = (path: string, init: Parameters<typeof fixture.gateway.call>[1] = {}) =>
  fixture.gateway.call(path, init);
const slow = (delayMs: number) => fixture.vendors.openai.next({ delayMs });
const post = (path: string, body?: object) => call(path, body ? { body } : { method: "POST" });

describe("a submission", () => {
  test("is answered with the queued job", async () => {
    const before = Date.now();
    const job = await submit(fixture.gateway, { model: MODEL, prompt: "a lighthouse" });
    expect(job).toEqual({
      id: expect.stringMatching(/^job_[0-9a-f]{32}$/),
      status: "pending",
      model: MODEL,
      create_time: expect.any(Number),
      started_at: null,
      completed_at: null,
      progress: 5,
      progress_message: "Queued",
      outputs_count: 0,
      outputs: [],
      execution_error: null,
    });
    expect(Math.abs(job.create_time - before)).toBeLessThan(5_000);
    await untilStatus(fixture.gateway, job.id);
  });

  test("becomes links only, whatever format of the response is requested, and is charged once", async () => {
    const body = { model: MODEL, prompt: "two", n: 2, response_format: "b64_json", output_format: "webp" };
    const { id } = await submit(fixture.gateway, body, { headers: { "x-request-id": "by-job" } });
    const job = await untilStatus(fixture.gateway, id);
    expect(job).toMatchObject({
      status: "completed",
      progress: 100,
      outputs_count: 2,
      execution_error: null,
      outputs: [{ mime_type: "image/webp" }, { mime_type: "image/webp" }],
    });
    for (const { url } of job.outputs) {
      const picture = await fetch(url);
      expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/webp"]);
    }
    const rows = await fixture.gateway.charged("by-job");
    expect(rows).toMatchObject([{ id, kind: "charge", consumed: { count: 2 } }]);
  });

  test("with a reference is an edit, as JSON and as a form", async () => {
    const json = { model: MODEL, prompt: "edit", images: [dataUrl(ONE), dataUrl(TWO)] };
    const form = new FormData();
    form.append("model", MODEL);
    form.append("prompt", "edit");
    form.append("n", "1");
    form.append("image[]", new Blob([ONE]), "one.png");
    form.append("image[]", new Blob([TWO]), "two.png");
    for (const body of [json, form]) {
      const { id } = await submit(fixture.gateway, body);
      expect((await untilStatus(fixture.gateway, id)).status).toBe("completed");
      const hit = fixture.vendors.openai.hits.at(-1)!;
      expect(hit.path).toBe("/v1/images/edits");
      expect(hit.body.includes(Buffer.from(ONE))).toBe(true);
      expect(hit.body.includes(Buffer.from(TWO))).toBe(true);
    }
  });

  test("may have the native shape with its model at the top", async () => {
    const inlineData = { mimeType: "image/png", data: Buffer.from(ONE).toString("base64") };
    const { id } = await submit(fixture.gateway, {
      model: "gemini-3.1-flash-image",
      contents: [{ role: "user", parts: [{ text: "make it blue" }, { inlineData }] }],
      generationConfig: { imageConfig: { aspectRatio: "1:1" } },
    });
    const job = await untilStatus(fixture.gateway, id);
    expect(job).toMatchObject({ status: "completed", outputs_count: 1 });
    const sent = fixture.vendors.gemini.hits.at(-1)!.json();
    expect(sent).not.toHaveProperty("model");
    expect(JSON.stringify(sent)).toContain("make it blue");
    const missing = await call("/api/jobs", { body: { contents: [] } });
    expect(await readError(missing)).toMatchObject({ code: "model_required", param: "model" });
  });

  test("leaves fields of image requests out of a native body, as its vendor refuses them", async () => {
    const contents = [{ role: "user", parts: [{ text: "a fox" }] }];
    const silent = { stream: true, user: "me", style: "vivid" };
    const body = { model: "gemini-3.1-flash-image", contents, n: 3, size: "1K", ...silent };
    const accepted = await call("/api/jobs", { body });
    expect(accepted.headers.get("x-gateway-ignored-params")).toBe("n, size, stream");
    const { id } = (await accepted.json()) as { id: string };
    expect((await untilStatus(fixture.gateway, id)).status).toBe("completed");
    expect(Object.keys(fixture.vendors.gemini.hits.at(-1)!.json() as object)).toEqual(["contents"]);
    const pictured = await call("/api/jobs", { body: { ...body, image: dataUrl(ONE) } });
    expect(await readError(pictured)).toMatchObject({ code: "invalid_parameter", param: "image" });
  });

  test("takes null contents as none", async () => {
    const job = await submit(fixture.gateway, { model: MODEL, prompt: "a fox", contents: null });
    expect((await untilStatus(fixture.gateway, job.id)).status).toBe("completed");
  });

  test("keeps large pictures and prompts as they are", async () => {
    const large = makePng(400, 300, { pixel: grain });
    expect(large.length).toBeGreaterThan(100_000);
    const prompt = `a long story ${"of the sea ".repeat(7_000)}`;
    const edit = await submit(fixture.gateway, {
      model: MODEL,
      prompt: "edit",
      images: [dataUrl(large), dataUrl(ONE)],
    });
    await untilStatus(fixture.gateway, edit.id);
    const form = fixture.vendors.openai.hits.at(-1)!.body;
    expect([form.includes(Buffer.from(large)), form.includes(Buffer.from(ONE))]).toEqual([true, true]);
    const data = Buffer.from(large).toString("base64");
    const native = await submit(fixture.gateway, {
      model: "gemini-3.1-flash-image",
      contents: [
        { role: "user", parts: [{ text: prompt }, { inlineData: { mimeType: "image/png", data } }] },
      ],
    });
    expect((await untilStatus(fixture.gateway, native.id)).status).toBe("completed");
    const sent = JSON.stringify(fixture.vendors.gemini.hits.at(-1)!.json());
    expect([sent.includes(prompt), sent.includes(data)]).toEqual([true, true]);
  });

  test.each([
    ["an unknown model", { model: "nothing", prompt: "x" }, 400, "model_not_available_for_routing", "model"],
    ["no model", { prompt: "x" }, 400, "model_required", "model"],
    ["no prompt", { model: MODEL }, 400, "prompt_required", "prompt"],
    ["a wrong count", { model: MODEL, prompt: "x", n: 5 }, 400, "invalid_parameter", "n"],
    [
      "too many references",
      { model: "grok-imagine-image", prompt: "x", images: [dataUrl(ONE), dataUrl(TWO)] },
      400,
      "too_many_reference_images",
      "image",
    ],
    [
      "bytes that are no picture",
      { model: MODEL, prompt: "x", image: "AAAA" },
      400,
      "invalid_image",
      "image",
    ],
    [
      "a link to an internal address",
      { model: MODEL, prompt: "x", image: "https://127.0.0.1/a.png" },
      400,
      "image_url_not_allowed",
      "image",
    ],
    [
      "a file id",
      { model: MODEL, prompt: "x", image: "file-abc" },
      400,
      "unsupported_file_reference",
      "image",
    ],
  ])("with %s is refused at once", async (_, body, status, code, param) => {
    const response = await call("/api/jobs", { body });
    expect(response.status).toBe(status);
    expect(await readError(response)).toMatchObject({ type: "bad_request", code, param });
    expect(fixture.hits()).toBe(0);
  });

  test.each<[string, object]>([
    ["Webhook_Url", { model: "gpt-image-2", prompt: "x", Webhook_Url: "https://example.com" }],
    ["Prompt", { model: "sandbox-b-fast", contents: [{ parts: [{ text: "x" }] }], Prompt: "y" }],
    ["Contents", { model: "gpt-image-2", prompt: "x", Contents: [] }],
  ])("with the name %s, of another case, is refused", async (param, body) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(body)) if (typeof value === "string") form.set(name, value);
    for (const sent of form.has(param) ? [body, form] : [body]) {
      const response = await call("/api/jobs", { body: sent });
      expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
    }
  });

  test("names fields that were ignored", async () => {
    const response = await call("/api/jobs", {
      body: { model: "gpt-image-2", prompt: "x", colour: "red", user: "me", background: "transparent" },
    });
    expect(response.headers.get("x-gateway-ignored-params")).toBe("colour, background");
    await untilStatus(fixture.gateway, ((await response.json()) as WireJob).id);
  });

  test("needs a key with the scope", async () => {
    const anonymous = await fetch(`${fixture.gateway.url}/api/jobs`, { method: "POST", body: "{}" });
    expect(anonymous.status).toBe(401);
    const created = JSON.parse(
      await fixture.gateway.cli("keys", "create", "--name", "text", "--scope", "ai:llm", "--json"),
    );
    const headers = { authorization: `Bearer ${created.secret}` };
    for (const path of ["/api/jobs", "/api/jobs/x"])
      expect(await readError(await call(path, { headers }))).toMatchObject({
        code: "authentication_required",
      });
  });

  test("with an idempotency key makes one job", async () => {
    const headers = { "idempotency-key": "once" };
    const body = { model: MODEL, prompt: "once", image: dataUrl(ONE) };
    const submitted = await Promise.all(
      Array.from({ length: 5 }, () => submit(fixture.gateway, body, { headers })),
    );
    expect(new Set(submitted.map(({ id }) => id)).size).toBe(1);
    await untilStatus(fixture.gateway, submitted[0]!.id);
    expect(await submit(fixture.gateway, body, { headers })).toMatchObject({
      status: "completed",
      id: submitted[0]!.id,
    });
    const other = await call("/api/jobs", { body: { ...body, prompt: "twice" }, headers });
    expect(other.status).toBe(409);
    expect(await readError(other)).toMatchObject({ code: "idempotency_conflict", type: "bad_request" });
    expect(fixture.vendors.openai.hits).toHaveLength(1);
    const unusable = await call("/api/jobs", { body, headers: { "idempotency-key": "a b" } });
    expect(unusable.status).toBe(400);
  });

  test("repeated with its idempotency key is the same job, also when a limit is used up", async () => {
    const limited = await fixture.gateway.cli(
      "keys",
      "create",
      "--name",
      "three pictures",
      "--limit",
      "images_per_minute=3",
      "--json",
    );
    const headers = { authorization: `Bearer ${JSON.parse(limited).secret}`, "idempotency-key": "limited" };
    const body = { model: MODEL, prompt: "two", n: 2 };
    const first = await submit(fixture.gateway, body, { headers });
    expect((await submit(fixture.gateway, body, { headers })).id).toBe(first.id);
    const other = await call("/api/jobs", { body, headers: { ...headers, "idempotency-key": "another" } });
    expect(other.status).toBe(429);
    await untilStatus(fixture.gateway, first.id);
  });
});

test("an address to be told of the end needs a secret, and must be public", async () => {
  const { cli } = fixture.gateway;
  const attempt = (webhook_url: unknown) =>
    call("/api/jobs", { body: { model: MODEL, prompt: "x", webhook_url } });
  const refusal = async (url: unknown) => readError(await attempt(url));
  expect(await refusal("https://127.0.0.1/")).toMatchObject({
    code: "invalid_parameter",
    param: "webhook_url",
  });
  expect(await refusal(1)).toMatchObject({ code: "invalid_parameter", param: "webhook_url" });
  const url = "https://hooks.example.com/jobs";
  expect(await refusal(url)).toMatchObject({ code: "unsupported_parameter", param: "webhook_url" });
  const { endpoint, secret } = JSON.parse(await cli("webhooks", "add", "--json"));
  expect(secret).toStartWith("whsec_");
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: MODEL, prompt: "x", webhook_url: url }))
    form.append(name, value);
  form.append("image", new Blob([ONE]), "one.png");
  const { id } = await submit(fixture.gateway, form);
  await untilStatus(fixture.gateway, id);
  const [delivery] = JSON.parse(await cli("webhooks", "deliveries", "--json"));
  expect(delivery).toMatchObject({ jobId: id, event: "job.completed", url });
  await until("the attempt in the metrics", async () => {
    const metrics = await (await call("/metrics")).text();
    return /^gateway_webhooks_total\{outcome="(?:retried|given_up)"\} [1-9]/m.test(metrics) || undefined;
  });
  expect(await cli("webhooks", "list")).toContain(endpoint.id);
  await cli("webhooks", "rotate", endpoint.id);
  await cli("webhooks", "redeliver", delivery.id);
  await cli("webhooks", "remove", endpoint.id);
});

describe("looking at a job", () => {
  test("is never cached, and says when to look again until the job has ended", async () => {
    slow(400);
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "slow" });
    const running = await until("the job to run", async () => {
      const response = await call(`/api/jobs/${id}`);
      const job = (await response.json()) as WireJob;
      return job.status === "in_progress" ? { response, job } : undefined;
    });
    expect(running.response.headers.get("retry-after")).toBe("3");
    expect(running.response.headers.get("cache-control")).toBe("no-store");
    expect(running.job).toMatchObject({ outputs: [], execution_error: null, started_at: expect.any(Number) });
    expect(running.job.progress).toBeGreaterThanOrEqual(20);
    await untilStatus(fixture.gateway, id);
    const ended = await call(`/api/jobs/${id}`);
    expect([ended.status, ended.headers.get("retry-after")]).toEqual([200, null]);
    expect(ended.headers.get("cache-control")).toBe("no-store");
  });

  test("shows a progress that never goes back", async () => {
    slow(300);
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "slow" });
    const seen: number[] = [];
    await until("the end", async () => {
      const { status, progress } = await look(fixture.gateway, id);
      seen.push(progress);
      return status === "completed" ? true : undefined;
    });
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect(seen.at(-1)).toBe(100);
  });

  test("of another organization is the same 404 as an unknown one", async () => {
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "mine" });
    await fixture.gateway.cli("orgs", "create", "--id", "other", "--name", "Other");
    const key = JSON.parse(
      await fixture.gateway.cli("keys", "create", "--name", "o", "--org", "other", "--json"),
    ).secret;
    const headers = { authorization: `Bearer ${key}`, "x-request-id": "same" };
    const texts = await until("the key to be known", async () => {
      const responses = await Promise.all(
        [id, "job_unknown"].map((each) => call(`/api/jobs/${each}`, { headers })),
      );
      return responses.every(({ status }) => status === 404)
        ? Promise.all(responses.map((response) => response.text()))
        : undefined;
    });
    expect(texts[0]).toBe(texts[1]!);
    const cancelled = await call(`/api/jobs/${id}/cancel`, { method: "POST", headers });
    expect(cancelled.status).toBe(404);
    const list = (await (await call("/api/jobs", { headers })).json()) as { jobs: unknown[] };
    expect(list.jobs).toEqual([]);
    await untilStatus(fixture.gateway, id);
  });

  test("that failed shows why, and costs nothing", async () => {
    fixture.vendors.openai.next("content-refused");
    const headers = { "x-request-id": "refused-job" };
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "no" }, { headers });
    const job = await untilStatus(fixture.gateway, id);
    expect(job).toMatchObject({
      status: "failed",
      outputs: [],
      execution_error: { type: "content_policy_violation", message: expect.any(String) },
    });
    expect((await fixture.gateway.ledger()).filter(({ request_id }) => request_id === "refused-job")).toEqual(
      [],
    );
  });

  test("whose link cannot be fetched fails with that", async () => {
    const image = "https://does-not-exist.example.com/a.png";
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "x", image });
    expect((await untilStatus(fixture.gateway, id)).execution_error?.type).toBe("image_fetch_failed");
    expect(fixture.hits()).toBe(0);
  });
});

test("a vendor that throttles delays a job and does not fail it", async () => {
  fixture.vendors.openai.next({ fault: "rate-limited", retryAfter: "1" });
  const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "later" });
  expect((await untilStatus(fixture.gateway, id)).status).toBe("completed");
  expect(fixture.vendors.openai.hits).toHaveLength(2);
});

describe("cancelling", () => {
  test("a running job stops the vendor's call, and happens once", async () => {
    slow(5_000);
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "stop me" });
    await fixture.vendors.openai.waitForHits(1);
    const response = await post(`/api/jobs/${id}/cancel`);
    expect([response.status, await response.json()]).toEqual([200, { cancelled: true }]);
    await fixture.vendors.openai.waitForClose();
    expect(await untilStatus(fixture.gateway, id)).toMatchObject({ status: "cancelled", outputs: [] });
    expect(await (await post(`/api/jobs/${id}/cancel`)).json()).toEqual({ cancelled: true });
    expect((await look(fixture.gateway, id)).status).toBe("cancelled");
  });

  test("by GET needs exactly `cancel=true`, and answers with the job", async () => {
    slow(5_000);
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "stop me" });
    await fixture.vendors.openai.waitForHits(1);
    for (const query of ["?cancel=1", "?cancel=TRUE", "?cancel", "?cancelled=true"])
      expect((await look(fixture.gateway, id, query)).progress_message).toBe("Generating");
    await call(`/api/jobs/${id}?cancel=true`, { method: "HEAD" });
    expect((await look(fixture.gateway, id)).progress_message).toBe("Generating");
    expect((await look(fixture.gateway, id, "?cancel=true")).id).toBe(id);
    expect((await untilStatus(fixture.gateway, id)).status).toBe("cancelled");
  });

  test("an ended job is a conflict, an unknown one not found", async () => {
    const { id } = await submit(fixture.gateway, { model: MODEL, prompt: "done" });
    await untilStatus(fixture.gateway, id);
    const ended = await post(`/api/jobs/${id}/cancel`);
    expect(ended.status).toBe(409);
    expect(await readError(ended)).toMatchObject({ code: "job_already_ended", type: "job_already_ended" });
    expect((await look(fixture.gateway, id, "?cancel=true")).status).toBe("completed");
    expect((await post("/api/jobs/job_unknown/cancel")).status).toBe(404);
  });

  test("several answers for each, in their order", async () => {
    const done = await submit(fixture.gateway, { model: MODEL, prompt: "done" });
    await untilStatus(fixture.gateway, done.id);
    slow(5_000);
    const running = await submit(fixture.gateway, { model: MODEL, prompt: "stop me" });
    await fixture.vendors.openai.waitForHits(2);
    const response = await post("/api/jobs/cancel", { job_ids: [running.id, "job_unknown", done.id] });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      cancelled: false,
      results: [
        { id: running.id, cancelled: true },
        { id: "job_unknown", cancelled: false, error: { type: "not_found" } },
        { id: done.id, cancelled: false, status: "completed", error: { type: "job_already_ended" } },
      ],
    });
    await untilStatus(fixture.gateway, running.id);
    const again = await post("/api/jobs/cancel", { job_ids: [running.id] });
    expect(await again.json()).toEqual({
      cancelled: true,
      results: [{ id: running.id, cancelled: true, status: "cancelled" }],
    });
  });

  test.each([
    ["no list", {}],
    ["an empty one", { job_ids: [] }],
    ["something else in it", { job_ids: [1] }],
    ["too many", { job_ids: Array.from({ length: 101 }, (_, index) => `job_${index}`) }],
  ])("%s is a 400", async (_, body) => {
    const response = await post("/api/jobs/cancel", body);
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({ code: "invalid_parameter", param: "job_ids" });
  });
});

test("a list of jobs to cancel that is there twice is a 400, as half of it would go on", async () => {
  const response = await call("/api/jobs/cancel", { body: '{"job_ids":["job_a"],"job_ids":["job_b"]}' });
  expect(await readError(response)).toMatchObject({ code: "invalid_request_body" });
});

describe("the list", () => {
  const list = async (query: string) =>
    (await (await call(`/api/jobs${query}`)).json()) as {
      jobs: WireJob[];
      pagination: { offset: number; limit: number; has_more: boolean };
    };

  test("has pages of jobs, the newest first, by status and time", async () => {
    const ids: string[] = [];
    for (const prompt of ["a", "b", "c"])
      ids.unshift((await submit(fixture.gateway, { model: MODEL, prompt })).id);
    for (const id of ids) await untilStatus(fixture.gateway, id);
    const page = await list("?limit=2");
    expect(page.jobs.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(page.pagination).toEqual({ offset: 0, limit: 2, has_more: true });
    expect((await list("?limit=1&offset=2")).jobs[0]?.id).toBe(ids[2]!);
    expect((await list("")).pagination.limit).toBe(20);
    const all = await list("?limit=100&status=completed,failed");
    expect(all.jobs.every(({ status }) => ["completed", "failed"].includes(status))).toBe(true);
    const { create_time: from } = page.jobs[1]!;
    const since = await list(`?created_from=${from}`);
    expect(since.jobs.map(({ id }) => id)).toEqual(expect.arrayContaining(ids.slice(0, 2)));
    expect((await list(`?created_to=${from}&limit=100`)).jobs.map(({ id }) => id)).not.toContain(ids[0]!);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=ten", "limit"],
    ["offset=-1", "offset"],
    ["offset=1.5", "offset"],
    ["status=done", "status"],
    ["created_from=yesterday", "created_from"],
  ])("with %s is a 400 that names the parameter", async (query, param) => {
    const response = await call(`/api/jobs?${query}`);
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({
      code: "invalid_parameter",
      param,
      type: "bad_request",
    });
  });
});

test("models of pictures name the endpoint", async () => {
  const { data } = (await (await call("/v1/models")).json()) as {
    data: { type: string; endpoints: string[] }[];
  };
  for (const { type, endpoints } of data) expect(endpoints.includes("/api/jobs")).toBe(type === "image");
});
