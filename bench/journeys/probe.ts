import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "bun:test";
import { loadSettings } from "../../src/config/index.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { startGateway } from "../../src/run/gateway.ts";
import { startOpenAi, SIMULATED_KEY } from "../../test/upstreams/openai.ts";
import { signIn } from "../../test/support/administration.ts";
import { CHAT, fixtureYaml } from "../../test/support/vendor.ts";

// Runs one journey (a kind of request). `run.ts` starts this file under `bun test`, which records the lines that ran.

const KEY = "gk_journey000000000000000000000000";
const say = (text: string) => [{ role: "user", content: text }];

type Journey = (call: Call, url: string) => Promise<void>;
type Call = (path: string, body?: object | FormData, headers?: Record<string, string>) => Promise<Response>;

const JOURNEYS: Readonly<Record<string, Journey>> = {
  async chat(call) {
    await (await call("/v1/chat/completions", { model: CHAT, messages: say("hi") })).text();
  },
  async "chat stream"(call) {
    const body = { model: CHAT, stream: true, messages: say("hi") };
    await (await call("/v1/chat/completions", body)).text();
  },
  async "translated stream"(call) {
    const body = { model: CHAT, stream: true, max_tokens: 50, messages: say("hi") };
    await (await call("/v1/messages", body)).text();
  },
  async edit(call) {
    const picture = await Bun.file(join(import.meta.dir, "picture.png")).bytes();
    const form = new FormData();
    form.set("model", "sandbox-a");
    form.set("prompt", "a lighthouse");
    form.set("image", new Blob([picture], { type: "image/png" }), "a.png");
    await (await call("/v1/images/edits", form)).text();
  },
  async job(call) {
    const submitted = await call("/api/jobs", { model: "sandbox-a", prompt: "a lighthouse" });
    const { id } = (await submitted.json()) as { id: string };
    for (;;) {
      const job = (await (await call(`/api/jobs/${id}`)).json()) as { status: string };
      if (job.status !== "pending" && job.status !== "in_progress") return;
      await Bun.sleep(50);
    }
  },
  async "sign-in"(_, url) {
    await (await signIn({ url })).act("GET", "/organizations");
  },
  async administration(_, url) {
    const administrator = await signIn({ url });
    const { data } = await administrator.act("GET", "/organizations");
    await administrator.act("POST", "/budgets", { organizationId: data[0].id, amount: "5", period: "day" });
  },
};

test("a journey", async () => {
  const { JOURNEY = "" } = process.env;
  const folder = mkdtempSync(join(tmpdir(), "journey-"));
  const vendor = await startOpenAi();
  const path = join(folder, "gateway.yaml");
  writeFileSync(path, fixtureYaml(vendor.url));
  const env = {
    GATEWAY_CONFIG: path,
    GATEWAY_DATA_DIR: folder,
    GATEWAY_BOOTSTRAP_KEY: KEY,
    GATEWAY_ADMIN_PASSWORD: "a-password-for-tests",
    VENDOR_KEY: SIMULATED_KEY,
    SANDBOX: "on",
    PORT: "0",
  };
  const load = () => loadSettings({ env, cwd: folder, providers: PROVIDERS });
  const gateway = await startGateway((await load()).settings, null, load);
  const call: Call = async (to, body, headers = {}) => {
    const isForm = body instanceof FormData;
    const response = await fetch(gateway.url + to, {
      headers: {
        authorization: `Bearer ${KEY}`,
        ...(body && !isForm && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body && { method: "POST", body: isForm ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${to}: ${response.status} ${await response.text()}`);
    return response;
  };
  if (JOURNEY !== "") await JOURNEYS[JOURNEY]?.(call, gateway.url);
  // Waits until the background work has run, so that a journey and its baseline both include that work.
  await Bun.sleep(2_000);
  await gateway.stop();
  await vendor.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);
