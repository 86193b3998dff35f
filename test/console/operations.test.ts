import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, PHONE, startTestConsole, type TestConsole } from "../support/browser.ts";
import type { Administrator } from "../support/administration.ts";
import { until } from "../support/gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

const FAILED = "checkout-4711";
const SAVED = "checkout-4712";
const HOSTILE = "<img/src=x/onerror=alert(1)>";
const MODEL = "gpt-5.4-mini";

describe.skipIf(chromium === null)("requests, providers and models in the console", () => {
  let console: TestConsole;
  let administrator: Administrator;
  let first: Simulator;
  let second: Simulator;
  beforeAll(async () => {
    [first, second] = await Promise.all([startOpenAi(), startOpenAi()]);
    const env = { VENDOR_KEY: SIMULATED_KEY };
    console = await startTestConsole({ yaml: configuration(first.url, second.url), env });
    first.respondBy(() => ({ fault: "rate-limited" }));
    second.respondBy(() => ({ fault: "html" }));
    expect((await ask(console, FAILED)).status).toBe(502);
    second.respondBy(() => undefined);
    expect((await ask(console, SAVED)).status).toBe(200);
    await console.gateway.charged(SAVED);
    administrator = await console.signIn();
  }, 30_000);
  afterAll(async () => {
    await console[Symbol.asyncDispose]();
    await Promise.all([first.close(), second.close()]);
  });

  test("a failed request is found by the id that its caller saw, with the reason of each call", async () => {
    await recorded(administrator, FAILED);
    await console.open("/requests");
    await console.see("502");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.fill("Find a request by its id", FAILED);
    await console.page.keyboard.press("Enter");
    await console.find("heading", "Request");
    await console.see("upstream_error");
    const text = (await console.page.evaluate("document.querySelector('main').innerText")) as string;
    const parts = [
      "house gpt-5.4",
      "Throttled by the vendor",
      "Status 429",
      "So spare/gpt-5.4-mini was called next.",
      "Unusable reply",
      "Nothing was charged.",
    ];
    expect(parts.filter((part) => !text.includes(part))).toEqual([]);
    expect(await console.accessibilityFindings()).toEqual([]);
  });

  test("a request that another vendor saved shows its cost line by line, summing to the ledger's amount", async () => {
    await recorded(administrator, SAVED);
    await console.open(`/requests/${SAVED}`);
    await console.see("Its reply was delivered.");
    const [entry] = await console.gateway.charged(SAVED);
    const rows = (await console.page.$$eval("table tr", (rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("td:last-child")].map(({ textContent }) => textContent ?? ""),
      ),
    )) as string[][];
    const amounts = rows.flat().map((text) => Number(text.replace("$", "")));
    const total = amounts.pop();
    expect(total).toBe(Number(entry!.amount) / 1e9);
    expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBeCloseTo(total!, 9);
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });

  test("an id that nobody has, and that would break out, is text in a page that says so", async () => {
    await console.open(`/requests/${encodeURIComponent(HOSTILE)}`);
    await console.see(`No request has the id ${HOSTILE}`);
    expect(await console.page.$$("main img")).toEqual([]);
  });

  test("filters are in the address and select rows", async () => {
    await console.open("/requests?status=5xx&code=upstream_error");
    await console.see("502");
    expect(await console.page.$$("tbody tr")).toHaveLength(1);
    await console.press("button", "Export");
    const link = await console.find("menuitem", "CSV");
    const address = (await link.evaluate(
      (element) => (element as unknown as { href: string }).href,
    )) as string;
    const csv = (await console.page.evaluate(
      `fetch(${JSON.stringify(address)}).then((file) => file.text())`,
    )) as string;
    expect(csv.trim().split("\n")).toHaveLength(2);
    expect(csv).toContain(FAILED);
    await console.open("/requests?status=4xx");
    await console.see("No request fits these filters");
    await console.press("button", "Clear the filters");
    await console.see("502");
    expect(new URL(console.page.url()).search).toBe("");
  });

  test("figures of the overview lead to their requests in the same range, and the spend to who spent it", async () => {
    await console.open("/?range=1h");
    await console.see("1 failed");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.page.$$eval("dl a", (links) => (links[2] as unknown as { click(): void }).click());
    await console.find("heading", "Requests");
    await console.see("upstream_error");
    const address = new URL(console.page.url());
    expect(`${address.pathname}${address.search}`).toBe("/console/requests?range=1h&status=failed");
    await console.open("/?range=1h");
    await console.press("link", "All of it, with an export");
    await console.find("heading", "Spend over time");
    await console.press("button", "Key");
    await console.see("First key");
    expect(new URL(console.page.url()).search).toBe("?range=1h&by=key");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Export");
    const link = await console.find("menuitem", "CSV");
    const file = (await link.evaluate((element) =>
      fetch((element as unknown as { href: string }).href).then((response) => response.text()),
    )) as string;
    expect(file).toContain("previousAmount");
    expect(file).toContain("First key");
    await console.page.keyboard.press("Escape");
    await console.press("button", "Client program");
    await console.see("JavaScript");
    expect(new URL(console.page.url()).search).toBe("?range=1h&by=client");
    expect(await console.accessibilityFindings()).toEqual([]);
  });

  test("a request that comes while one looks is counted, and is in the list once one asks for it", async () => {
    await console.open("/requests");
    await console.see("502");
    const before = (await console.page.$$("tbody tr")).length;
    expect((await ask(console, "checkout-4713")).status).toBe(200);
    await console.see("1 new request");
    await console.press("button", "1 new request");
    await until("one more row", async () => {
      const rows = await console.page.$$("tbody tr:not([aria-hidden])");
      return rows.length === before + 1 || undefined;
    });
  });

  test("a vendor is connected in the form once its test succeeds, and its models answer at once", async () => {
    first.respondBy(() => undefined);
    await console.open("/models/providers");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("link", "Add a channel");
    await console.fill("Find a vendor", "openai");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("link", "OpenAI");
    await console.fill("Credential", "sk-wrong-credential");
    await console.fill("Base address", `${first.url}/v1`);
    await console.press("button", "Test the connection");
    await console.see("The vendor refuses the credential");
    await console.press("button", "Connect");
    await console.find("heading", "Connect anyway?");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Cancel");
    await console.fill("Credential", SIMULATED_KEY);
    await console.press("button", "Test the connection");
    await console.see("The vendor accepts the connection");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Connect");
    await console.find("heading", "openai");
    await console.see("Not tried yet");
    expect(await console.page.content()).not.toContain(SIMULATED_KEY);
    expect(await call(console)).toBe(200);
    expect(first.hits.at(-1)?.path).toBe("/v1/chat/completions");
  });

  test("a route is put in another order by keyboard, and requests follow it", async () => {
    const channel = {
      id: "second",
      provider: "openai",
      baseUrl: `${second.url}/v1`,
      credential: SIMULATED_KEY,
    };
    await administrator.act("POST", "/channels", channel);
    await console.open(`/models/detail?model=${MODEL}`);
    await console.press("button", "Choose a channel Channel");
    await console.press("option", "second openai");
    await console.press("button", "Add a target");
    await console.see("Not saved yet");
    await moveUp(console, `second/${MODEL}`);
    await console.see("What the route above would do once it is saved.");
    await console.see(`second/${MODEL} would answer, then openai/${MODEL}.`);
    const unsaved = second.hits.length;
    expect(await call(console)).toBe(200);
    expect(second.hits.length).toBe(unsaved);
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Save the route");
    await console.page.waitForFunction(`!document.body.innerText.includes("Not saved yet")`);
    await console.see(`second/${MODEL} would answer, then openai/${MODEL}.`);
    const earlier = second.hits.length;
    // The gateway reloads changed routes twice per second.
    await until("a request at the second vendor", async () => {
      expect(await call(console)).toBe(200);
      return second.hits.length > earlier || undefined;
    });
    const before = first.hits.length;
    expect(await call(console)).toBe(200);
    expect(first.hits.length).toBe(before);
  });

  test("a target that no organization may name yet is refused before it is saved, with what helps", async () => {
    await console.open(`/models/detail?model=${MODEL}`);
    await console.press("button", "Choose a channel Channel");
    await console.press("option", "second openai");
    await console.fill("The vendor's name of the model", "another-name");
    await console.press("button", "Add a target");
    await console.see("add this target to the model's default route first");
    await console.press("button", "Discard changes");
    await console.see(`second/${MODEL} would answer, then openai/${MODEL}.`);
  });

  test("the dry run says who takes over when a target is down, and that one does", async () => {
    const label = `Suppose that second/${MODEL} is down`;
    await console.page.click(`label:has(input[aria-label="${label}"])`);
    await console.see(`openai/${MODEL} would answer.`);
    const before = first.hits.length;
    second.respondBy(() => ({ fault: "error-status", status: 500 }));
    expect(await call(console)).toBe(200);
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
    await console.press("button", "What the vendor offers The vendor's name of the model");
    await console.press("option", "gpt-5.4");
    await console.fill("Price of a million input tokens", "1.5");
    await console.fill("Price of a million output tokens", "3");
    await console.press("button", "Save");
    await console.see("The model is saved");
    await console.find("heading", own);
    expect(await call(console, own)).toBe(200);
    await console.press("button", "Disable for Default organization");
    await console.see("1 key of the organization is refused with 403 from now on.");
    await console.press("button", "Disable");
    await console.see("The request would be refused");
    await until("a refusal", async () => (await call(console, own)) === 403 || undefined);
  });

  test("removing a channel says in figures what is lost, and a name that breaks out stays text", async () => {
    const name = '"><img src=x onerror=document.title=1>';
    await administrator.act("PATCH", "/models", { id: MODEL, displayName: name });
    await console.open(`/models/detail?model=${MODEL}`);
    await console.see(name);
    expect(await console.page.$$("main img")).toEqual([]);
    await console.open("/models/providers/second");
    await console.press("button", "Remove");
    await console.see(`1 organization's own route loses it: ${MODEL} of default.`);
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.fill("Type “second” to confirm", "second");
    await console.page.keyboard.press("Enter");
    await console.see("The channel is removed");
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });

  describe("on a phone", () => {
    let job = "";
    beforeAll(async () => {
      await console.resize(PHONE);
      const body = { model: "sandbox-a", prompt: "A harbour" };
      const headers = { "x-request-id": "harbour" };
      await (await console.gateway.call("/v1/images/generations", { body, headers })).text();
      job = ((await (await console.gateway.call("/api/jobs", { body })).json()) as { id: string }).id;
      await console.gateway.charged("harbour");
      await until("the job's end", async () => {
        const state = (await (await console.gateway.call(`/api/jobs/${job}`)).json()) as { status: string };
        return state.status === "completed" || undefined;
      });
    });

    const PAGES = [
      ["/requests", "sandbox-a"],
      ["/requests/harbour", "Charged"],
      ["/jobs", "sandbox-a"],
      ["/jobs/{job}", "Charged"],
      ["/models?search=sandbox-a", "Sandbox A"],
      ["/models/detail?model=sandbox-a", "Called first"],
      ["/models/detail?model=claude-opus-5", "No channel serves it yet"],
      ["/models/providers", "Working"],
      ["/models/providers/add?provider=ollama", "the built-in sandbox and its models end"],
      ["/models/providers/add", "OpenAI"],
      ["/models/providers/add?provider=bedrock", "Region"],
      ["/models/providers/sandbox", "Working"],
    ] as const;
    for (const [path, text] of PAGES)
      test(`${path} can be used by anybody, and neither moves nor overflows`, async () => {
        await console.load(path.replace("{job}", job));
        await console.see(text);
        expect(await console.accessibilityFindings()).toEqual([]);
        expect(await console.layoutShift()).toBeLessThanOrEqual(0.05);
        const overflow = `document.documentElement.scrollWidth <= document.documentElement.clientWidth`;
        expect(await console.page.evaluate(overflow)).toBe(true);
        expect(console.problems).toEqual([]);
      });
  });
});

function configuration(first: string, second: string): string {
  return `
routing: { max_attempts: 2 }
channels:
  house: { provider: openai, base_url: "${first}/v1", credential: { env: VENDOR_KEY } }
  spare: { provider: openai, base_url: "${second}/v1", credential: { env: VENDOR_KEY } }
models:
  house-chat:
    type: chat
    max_output_tokens: 8192
    price: { currency: USD, per_million: { input: "1", output: "2" } }
    route:
      targets:
        - { channel: house, upstream_model: gpt-5.4 }
        - { channel: spare, upstream_model: gpt-5.4-mini }
`;
}

async function ask({ gateway }: TestConsole, requestId: string): Promise<Response> {
  const body = { model: "house-chat", messages: [{ role: "user", content: "Hello" }] };
  const response = await gateway.call("/v1/chat/completions", {
    body,
    headers: { "x-request-id": requestId },
  });
  await response.text();
  return response;
}

/** Waits until the log contains the request. The record is written after the response. */
function recorded({ send }: Administrator, id: string): Promise<unknown> {
  return until(`the record of ${id}`, async () => {
    const { status } = await send("GET", `/requests/${id}`);
    return status === 200 || undefined;
  });
}

async function call({ gateway }: TestConsole, model = MODEL): Promise<number> {
  const body = { model, messages: [{ role: "user", content: "Hello" }] };
  const response = await gateway.call("/v1/chat/completions", { body });
  await response.text();
  return response.status;
}

/** Moves a route's target above the others, by keyboard. */
async function moveUp({ page }: TestConsole, target: string): Promise<void> {
  await page.focus(`button[aria-label="Move ${target}"]`);
  await page.keyboard.press("Enter");
  await page.waitForSelector(`[data-drop-target]`);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
}
