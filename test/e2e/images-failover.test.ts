import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { submit, type WireJob } from "../support/job-calls.ts";
import { makePng } from "../support/pictures.ts";
import { startBfl, SIMULATED_KEY as BFL_KEY } from "../upstreams/bfl.ts";
import { row } from "../upstreams/error-rows.ts";
import { startFal, SIMULATED_KEY as FAL_KEY, type Fal } from "../upstreams/fal.ts";
import { startGemini, SIMULATED_KEY as GEMINI_KEY } from "../upstreams/gemini.ts";
import { startOpenAi, SIMULATED_KEY as OPENAI_KEY } from "../upstreams/openai.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { formOf } from "../support/images-forms.ts";
import { openImageFixture, readCatalogue } from "./images-vendors.ts";

/*
 * Failover of images on every endpoint. A picture whose call timed out may still be created and charged. So after a
 * timeout, another vendor is called only with the setting 'Cancel on timeout and use fallback'.
 */
const FIRST_BYTE_MS = 500;
const FALLBACK_SECONDS = 1;
const REFERENCE = makePng(64, 48);
const DATA = REFERENCE.toString("base64");

interface VendorPair {
  first: Simulator;
  second: Simulator;
  model: string;
  /** Price of one picture in nano-units. */
  price: bigint;
  /** Behaviour by which the first vendor does not respond in time. */
  wait: Behaviour;
  /** Resolves when the call to the first vendor is cancelled. */
  cancelled(): Promise<unknown>;
}

let openai: VendorPair;
let gemini: VendorPair;
let queue: VendorPair;
let pairs: VendorPair[];
let gateway: TestGateway;
/** Keys of two organizations: `on` has the setting enabled, `off` has it disabled. */
const keys = { on: "", off: "" };

beforeAll(async () => {
  const fal = await startFal();
  openai = pairOf(await startOpenAi(), await startOpenAi(), "gpt-image-2", 5_900_000n);
  gemini = pairOf(await startGemini(), await startGemini(), "gemini-3.1-flash-image", 67_200_000n);
  queue = {
    ...pairOf(fal, await startBfl(), "flux-2-pro", 45_000_000n),
    wait: { polls: 1_000_000 },
    cancelled: () => untilCancelled(fal),
  };
  pairs = [openai, gemini, queue];
  gateway = await startTestGateway({ yaml: Bun.YAML.stringify(await gatewayConfiguration()), env: KEYS });
  for (const state of ["on", "off"] as const) {
    const { id } = JSON.parse(await gateway.cli("orgs", "create", "--name", state, "--json"));
    if (state === "on") await gateway.cli("orgs", "set", id, "--fallback-after", String(FALLBACK_SECONDS));
    const made = await gateway.cli("keys", "create", "--org", id, "--name", state, "--json");
    keys[state] = JSON.parse(made).secret;
  }
  await until("both keys to be known", async () => {
    const responses = await Promise.all(Object.values(keys).map((key) => call(key, "/v1/models")));
    return responses.every(({ status }) => status === 200) ? true : undefined;
  });
}, 30_000);
afterEach(() => pairs.forEach(({ first, second }) => [first, second].forEach((vendor) => vendor.reset())));
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all(pairs.flatMap(({ first, second }) => [first.close(), second.close()]));
});

interface Entrance {
  pair(): VendorPair;
  path: string;
  body(model: string): object;
  /** Returns the code of an error in the endpoint's format. */
  code(error: Record<string, unknown>): unknown;
}

const codeOf = ({ code }: Record<string, unknown>) => code;
const FIELDS = { prompt: "a lighthouse", size: "1K", aspectRatio: "1:1", quality: "low" };
const ENTRANCES: Record<string, Entrance> = {
  "a generation": {
    pair: () => openai,
    path: "/v1/images/generations",
    body: (model) => ({ model, ...FIELDS }),
    code: codeOf,
  },
  "an edit by form": {
    pair: () => openai,
    path: "/v1/images/edits",
    body: (model) =>
      formOf([...Object.entries({ model, ...FIELDS }), ["image[]", REFERENCE], ["image[]", REFERENCE]]),
    code: codeOf,
  },
  "an edit at a vendor of jobs": {
    pair: () => queue,
    path: "/v1/images/edits",
    body: (model) => ({ model, ...FIELDS, image: `data:image/png;base64,${DATA}` }),
    code: codeOf,
  },
  "a native call": {
    pair: () => gemini,
    path: "/v1beta/models/gemini-3.1-flash-image:generateContent",
    body: () => ({
      contents: [
        {
          role: "user",
          parts: [{ text: "a lighthouse" }, { inlineData: { mimeType: "image/png", data: DATA } }],
        },
      ],
      generationConfig: {
        responseModalities: ["IMAGE"],
        imageConfig: { aspectRatio: "1:1", imageSize: "1K" },
      },
    }),
    code: ({ details }) => Object(details)[0].reason,
  },
};

describe.each(Object.entries(ENTRANCES))("%s that times out", (name, { pair, path, body, code }) => {
  test("is an error without another call, unless fallback is on", async () => {
    const { first, second, model, wait, cancelled } = pair();
    first.next(wait);
    const response = await call(keys.off, path, body(model), nameOf("off", name));
    expect(response.status).toBe(504);
    expect(code(Object(await response.json()).error)).toBe("upstream_timeout");
    await cancelled();
    expect(second.hits).toHaveLength(0);
  });

  test("is cancelled and served by the next vendor, billed once, with fallback", async () => {
    const { first, second, model, price, wait, cancelled } = pair();
    first.next(wait);
    const startedAt = performance.now();
    const response = await call(keys.on, path, body(model), nameOf("on", name));
    const tookMs = performance.now() - startedAt;
    expect(response.status).toBe(200);
    expect(await countPictures(response)).toBe(1);
    expect(tookMs).toBeGreaterThan(FALLBACK_SECONDS * 1_000 - 50);
    await cancelled();
    expect(first.totals.pictures).toBe(0);
    expect(second.totals.pictures).toBe(1);
    expect(await gateway.charged(nameOf("on", name))).toMatchObject([
      {
        kind: "charge",
        amount: price,
        orphan_cost: price,
        channel: channelOf(model, 2),
        consumed: { count: 1 },
        attempts: [
          { channel: channelOf(model, 1), outcome: "timeout", isAmbiguous: true },
          { channel: channelOf(model, 2), outcome: "answered" },
        ],
      },
    ]);
  });
});

describe("a job that times out", () => {
  const run = async (state: "on" | "off") => {
    const { first, model, wait } = gemini;
    first.next(wait);
    const headers = { authorization: `Bearer ${keys[state]}`, "x-request-id": nameOf(state, "a job") };
    const { id } = await submit(gateway, { model, ...FIELDS }, { headers });
    return await until("the job to end", async () => {
      const job = (await (await gateway.call(`/api/jobs/${id}`, { headers })).json()) as WireJob;
      return job.completed_at === null ? undefined : job;
    });
  };

  test("fails without another call, unless fallback is on", async () => {
    expect(await run("off")).toMatchObject({
      status: "failed",
      execution_error: { type: "upstream_timeout" },
    });
    expect(gemini.second.hits).toHaveLength(0);
  });

  test("is cancelled and served by the next vendor, billed once, with fallback", async () => {
    expect(await run("on")).toMatchObject({ status: "completed", outputs_count: 1 });
    expect([gemini.first.totals.pictures, gemini.second.totals.pictures]).toEqual([0, 1]);
    expect(await gateway.charged(nameOf("on", "a job"))).toMatchObject([
      { amount: gemini.price, orphan_cost: gemini.price, channel: channelOf(gemini.model, 2) },
    ]);
  });
});

test("after a lost job the next vendor is called and the orphan cost recorded", async () => {
  // The vendor locks the account before the result is fetched, so a picture may exist.
  queue.first.next({ outcome: "locked" });
  const body = { model: queue.model, ...FIELDS };
  const response = await call(keys.off, "/v1/images/generations", body, "lost-job");
  expect(response.status).toBe(200);
  await queue.cancelled();
  expect(await gateway.charged("lost-job")).toMatchObject([
    {
      amount: queue.price,
      orphan_cost: queue.price,
      attempts: [{ outcome: "account", isAmbiguous: true }, { outcome: "answered" }],
    },
  ]);
});

test("the vendors of a shipped model are called in order until one succeeds", async () => {
  await using fixture = await openImageFixture();
  const { bfl, fal, openrouter, replicate } = fixture.vendors;
  bfl.next(row("overloaded"));
  fal.next(row("throttled"));
  const response = await fixture.gateway.call("/v1/images/generations", {
    body: { model: "flux-2-pro", ...FIELDS },
    headers: { "x-request-id": "in-order" },
  });
  expect(response.status).toBe(200);
  expect([bfl, fal, openrouter, replicate].map(({ hits }) => hits.length)).toEqual([1, 1, 1, 0]);
  expect(await fixture.gateway.charged("in-order")).toMatchObject([
    {
      amount: queue.price,
      orphan_cost: 0n,
      channel: "openrouter",
      attempts: [{ outcome: "overloaded" }, { outcome: "limited" }, { outcome: "answered" }],
    },
  ]);
}, 15_000);

test("only what was delivered is in the ledger", async () => {
  const ids = (await gateway.ledger()).map((charge) => charge.request_id).toSorted();
  const delivered = Object.keys(ENTRANCES).map((name) => nameOf("on", name));
  expect(ids).toEqual([...delivered, nameOf("on", "a job"), "lost-job"].toSorted());
});

/** Credentials, by the names of their variables. */
const KEYS = { OPENAI: OPENAI_KEY, GEMINI: GEMINI_KEY, FAL: FAL_KEY, BFL: BFL_KEY };

function pairOf(first: Simulator, second: Simulator, model: string, price: bigint): VendorPair {
  const cancelled = () => first.waitForClose();
  return { first, second, model, price, wait: { fault: "stall" }, cancelled };
}

async function untilCancelled({ jobs }: Fal): Promise<void> {
  await until("the job to be cancelled", () => (jobs.all.at(-1)?.isCancelled ? true : undefined));
}

function channelOf(model: string, position: 1 | 2): string {
  return `${model.split("-")[0]}-${position}`;
}

/** Each pair has two channels, which the pair's model calls in order. */
async function gatewayConfiguration(): Promise<object> {
  const deadlines = { first_byte_ms: FIRST_BYTE_MS };
  const at = (provider: string, url: string, settings = {}) => ({
    provider,
    base_url: url,
    credential: { env: provider.toUpperCase() },
    deadlines,
    settings,
  });
  const { channel } = await readCatalogue("fal");
  const often = { poll_interval_ms: 5 };
  const route = (model: string, ...upstreams: [string, string]) => ({
    route: {
      targets: upstreams.map((upstream, index) => ({
        channel: channelOf(model, index === 0 ? 1 : 2),
        upstream_model: upstream,
      })),
    },
  });
  return {
    routing: { retry_floor: 100 },
    channels: {
      "gpt-1": at("openai", `${openai.first.url}/v1`),
      "gpt-2": at("openai", `${openai.second.url}/v1`),
      "gemini-1": at("gemini", gemini.first.url),
      "gemini-2": at("gemini", gemini.second.url),
      "flux-1": at("fal", queue.first.url, { ...channel.settings, ...often }),
      "flux-2": at("bfl", `${queue.second.url}/v1`, often),
    },
    models: {
      "gpt-image-2": route("gpt-image-2", "gpt-image-2", "gpt-image-2"),
      "gemini-3.1-flash-image": route(gemini.model, gemini.model, gemini.model),
      "flux-2-pro": route("flux-2-pro", "fal-ai/flux-2-pro", "flux-2-pro"),
    },
  };
}

function call(key: string, path: string, body?: object, requestId = "probe"): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "x-request-id": requestId };
  return gateway.call(path, { headers, ...(body && { body }) });
}

/** Returns a request id without spaces. */
function nameOf(state: "on" | "off", entrance: string): string {
  return `${state}-${entrance}`.replaceAll(" ", "-");
}

async function countPictures(response: Response): Promise<number> {
  const { data, candidates } = Object(await response.json());
  if (data) return data.length;
  return candidates[0].content.parts.filter((part: { inlineData?: object }) => part.inlineData).length;
}
