import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

const MODEL = "gpt-5.4-mini";

describe.skipIf(chromium === null)("the console's providers and models", () => {
  let console: TestConsole;
  let first: Simulator;
  let second: Simulator;
  beforeAll(async () => {
    [first, second] = await Promise.all([startOpenAi(), startOpenAi()]);
    console = await startTestConsole();
    await console.signIn();
  }, 30_000);
  afterAll(async () => {
    await console[Symbol.asyncDispose]();
    await Promise.all([first.close(), second.close()]);
  });

  test("a vendor is connected in the form once its test succeeds, and its models answer at once", async () => {
    await console.open("/models/providers");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("link", "Connect a vendor");
    await console.fill("Find a provider", "openai");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("link", "OpenAI");
    await console.fill("Credential", "sk-wrong-credential");
    await console.fill("Base address", `${first.url}/v1`);
    await console.press("button", "Test the connection");
    await console.see("The vendor refuses the credential");
    await console.fill("Credential", SIMULATED_KEY);
    await console.press("button", "Test the connection");
    await console.see("The vendor accepts the connection");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Connect");
    await console.find("heading", "openai");
    expect(await console.page.content()).not.toContain(SIMULATED_KEY);
    expect(await ask(console)).toBe(200);
    expect(first.hits.at(-1)?.path).toBe("/v1/chat/completions");
  });

  test("a route is put in another order by keyboard, and requests follow it", async () => {
    await connectSpare(console, second);
    await console.open(`/models/detail?model=${MODEL}`);
    await console.press("button", "Choose a channel Channel");
    await console.press("option", "spare openai");
    await console.press("button", "Add a target");
    await console.see("Not saved yet");
    await moveUp(console, `spare/${MODEL}`);
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Save the route");
    await console.see(`spare/${MODEL} would answer, then openai/${MODEL}.`);
    // The gateway looks for changed routes twice a second.
    await until("a request at the second vendor", async () => {
      expect(await ask(console)).toBe(200);
      return second.hits.some(({ path }) => path === "/v1/chat/completions") || undefined;
    });
    const before = first.hits.length;
    expect(await ask(console)).toBe(200);
    expect(first.hits.length).toBe(before);
  }, 20_000);

  test("the dry run says who takes over when a target is down, and that one does", async () => {
    const label = `Suppose that spare/${MODEL} is down`;
    await console.page.click(`label:has(input[aria-label="${label}"])`);
    await console.see(`openai/${MODEL} would answer.`);
    const before = first.hits.length;
    second.respondBy(() => ({ fault: "error-status", status: 500 }));
    expect(await ask(console)).toBe(200);
    expect(first.hits.length).toBe(before + 1);
    second.respondBy(() => undefined);
  });

  test("a model of one's own answers once it is added, and not where it is disabled", async () => {
    const own = "acme/own-chat";
    await console.open("/models");
    await console.press("button", "Add a model");
    await console.fill("Id", own);
    await console.press("button", "Choose… Channel");
    await console.press("option", "openai openai");
    await console.fill("The vendor's name of the model", "gpt-5.4");
    await console.fill("Price of a million input tokens", "1.5");
    await console.fill("Price of a million output tokens", "3");
    await console.press("button", "Save");
    await console.see("The model is saved");
    await console.find("heading", own);
    expect(await ask(console, own)).toBe(200);
    await console.press("button", "Disable for Default organization");
    await console.see("1 key of the organization is refused with 403 from now on.");
    await console.press("button", "Disable");
    await console.see("The request would be refused");
    await until("a refusal", async () => (await ask(console, own)) === 403 || undefined);
  }, 20_000);

  test("removing a channel says in figures what is lost, and a name that breaks out stays text", async () => {
    const name = '"><img src=x onerror=document.title=1>';
    await send(console, "PATCH", "/models", { id: MODEL, displayName: name });
    await console.open(`/models/detail?model=${MODEL}`);
    await console.see(name);
    expect(await console.page.$$("main img")).toEqual([]);
    await console.open("/models/providers/spare");
    await console.press("button", "Remove");
    await console.see(`1 organization's own route loses it: ${MODEL} of default.`);
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.fill("Type “spare” to confirm", "spare");
    await console.page.keyboard.press("Enter");
    await console.see("The channel is removed");
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });
});

async function ask({ gateway }: TestConsole, model = MODEL): Promise<number> {
  const body = { model, messages: [{ role: "user", content: "Hello" }] };
  const response = await gateway.call("/v1/chat/completions", { body });
  await response.text();
  return response.status;
}

/** Calls the administrative interface as the page does. */
async function send({ page }: TestConsole, method: string, path: string, body: object): Promise<void> {
  const status = await page.evaluate(
    `fetch("/admin/v1${path}", { method: "${method}", headers: { "content-type": "application/json" }, body: ${JSON.stringify(JSON.stringify(body))} }).then((response) => response.status)`,
  );
  expect(status).toBe(200);
}

function connectSpare(console: TestConsole, { url }: Simulator): Promise<void> {
  const channel = { id: "spare", provider: "openai", baseUrl: `${url}/v1`, credential: SIMULATED_KEY };
  return send(console, "POST", "/channels", channel);
}

/** Drags the target of a route above all others by keys alone. */
async function moveUp({ page }: TestConsole, target: string): Promise<void> {
  await page.focus(`button[aria-label="Move ${target}"]`);
  await page.keyboard.press("Enter");
  await page.waitForSelector(`[data-drop-target]`);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
}
