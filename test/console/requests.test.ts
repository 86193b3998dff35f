import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

const FAILED = "checkout-4711";
const SAVED = "checkout-4712";
const HOSTILE = "<img/src=x/onerror=alert(1)>";

describe.skipIf(chromium === null)("the console's requests", () => {
  let console: TestConsole;
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
    await console.signIn();
  }, 30_000);
  afterAll(async () => {
    await console[Symbol.asyncDispose]();
    await Promise.all([first.close(), second.close()]);
  });

  test("a failed request is found by the id that its caller saw, with the reason of each call", async () => {
    await recorded(console, FAILED);
    await console.open("/requests");
    await console.see("502");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.page.type('input[placeholder^="The X-Request-Id"]', FAILED);
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
    await recorded(console, SAVED);
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

  test("filters stand in the address and leave what they say", async () => {
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
  }, 20_000);
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

/** Waits until the request is in the log, which is written behind it. */
function recorded({ page }: TestConsole, id: string): Promise<unknown> {
  return until(`the record of ${id}`, async () => {
    const status = await page.evaluate(
      `fetch("/admin/v1/requests/${id}").then((response) => response.status)`,
    );
    return status === 200 || undefined;
  });
}
