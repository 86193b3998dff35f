import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HTTPRequest } from "puppeteer-core";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";
import { chord, tabTo } from "../support/keyboard.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { fixtureYaml, IMAGE } from "../support/vendor.ts";

const HOSTILE = `<img src=x onerror="window.broken = true"> in 60 words`;
/** Delay that lets the page read the job while the job runs. */
const DELAY_MS = 1_500;
/** Longer than two intervals of the page's reads. */
const PERIODS_MS = 2_500;

describe.skipIf(chromium === null)("the playground's conversations and jobs", () => {
  let console: TestConsole;
  let vendor: Simulator;
  beforeAll(async () => {
    vendor = await startOpenAi();
    const env = { VENDOR_KEY: SIMULATED_KEY, SANDBOX_TOKENS_PER_SECOND: "80" };
    console = await startTestConsole({ yaml: fixtureYaml(vendor.url, { firstByteMs: 60_000 }), env });
    await console.signIn();
  });
  afterAll(async () => {
    await console[Symbol.asyncDispose]();
    await vendor.close();
  });

  test.each([
    ["chat", "sandbox-chat"],
    ["messages", "sandbox-messages"],
  ])("%s streams its answer, counts its tokens and is billed as the ledger says", async (protocol, model) => {
    const { page, gateway } = console;
    await console.open(`/playground/${protocol}?model=${model}`);
    await console.see("a million tokens in");
    await tabTo(page, "Message");
    await page.keyboard.type(HOSTILE);
    await chord(page, "Control", "Enter");
    const lengths = await lengthsOf(console);
    expect(lengths.length).toBeGreaterThan(2);
    await console.see("tokens in");
    expect(await console.accessibilityFindings()).toEqual([]);
    const charge = await until("the charge", async () =>
      (await gateway.ledger()).find((row) => row.model === model),
    );
    const bill = await page.waitForSelector("[data-bill] strong");
    const shown = await bill!.evaluate(({ textContent }) => textContent ?? "");
    expect(Number(shown.replace("$", ""))).toBe(Number(charge.amount) / 1e9);
    const { input = 0, output = 0 } = charge.consumed?.tokens ?? {};
    await console.see(`${input} tokens in`);
    await console.see(`${output} out`);
    await console.find("link", "Open the request");
    await console.see(HOSTILE);
    expect(await page.evaluate("document.querySelector('img[src=x]') ?? window.broken ?? 'text'")).toBe(
      "text",
    );
    await console.open(`/money/ledger?model=${model}`);
    await console.see(`${input + output} tokens`);
  });

  test("an answer is stopped by keys, and the conversation goes on with what came", async () => {
    const { page } = console;
    await console.open("/playground/chat?model=sandbox-chat");
    await console.fill("Message", "Tell me about piers in 900 words.");
    await tabTo(page, "Send");
    await page.keyboard.press("Enter");
    await page.waitForFunction(`document.querySelector("[data-role=assistant]")?.innerText.length > 40`);
    // The send button still has the focus. Now the button stops the reply.
    await page.keyboard.press("Enter");
    await console.see("Stopped");
    await console.fill("Message", "And harbours in 5 words?");
    await chord(page, "Control", "Enter");
    await console.see("Done");
    expect(await page.$$eval("[data-role]", (all) => all.length)).toBe(4);
    await console.press("button", "Show as code");
    const code = await page.$eval("pre", ({ innerText }) => innerText);
    expect(code).toContain("/v1/chat/completions");
    expect(code.match(/"role": "assistant"/g)).toHaveLength(2);
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });

  test("a job shows its progress, then its picture and its bill", async () => {
    const { page } = console;
    vendor.next({ delayMs: DELAY_MS });
    await submitJob(console);
    await page.waitForFunction(
      `Number(document.querySelector("[role=progressbar]")?.getAttribute("aria-valuenow")) >= 20`,
    );
    await console.see("Generating");
    expect(await console.accessibilityFindings()).toEqual([]);
    await page.waitForFunction(`document.querySelector("article img")?.naturalWidth > 0`);
    const bill = await page.waitForSelector("[data-bill] strong");
    expect(await bill!.evaluate(({ textContent }) => textContent)).toBe("$0.05");
  });

  test("a running job is read no more once the page is left", async () => {
    const { page } = console;
    vendor.next("stall");
    await submitJob(console);
    await console.see("Generating");
    await page.click("nav a[href='/console/keys']");
    await page.waitForSelector("[aria-current=page][href='/console/keys']");
    const reads: string[] = [];
    const note = (request: HTTPRequest) => {
      if (request.url().includes("/api/jobs/")) reads.push(request.url());
    };
    page.on("request", note);
    await Bun.sleep(PERIODS_MS);
    page.off("request", note);
    expect(reads).toEqual([]);
  });

  test("a running job is followed again with the key of another organization chosen, and cancelled by keys", async () => {
    const { page, gateway } = console;
    const member = await console.signIn();
    await member.act("POST", "/organizations", { id: "other", name: "Other" });
    const { key } = await member.act("POST", "/keys", { organizationId: "other", name: "other" });
    await console.open("/keys");
    await console.open(`/playground?model=${IMAGE}&key=${key.id}`);
    await page.waitForSelector("li button");
    await page.click("li button");
    await console.see("Generating");
    await tabTo(page, "Cancel", { isBack: true });
    await page.keyboard.press("Enter");
    await console.see("Cancelled");
    const { jobs } = (await (await gateway.call("/api/jobs")).json()) as { jobs: { status: string }[] };
    expect(jobs.map(({ status }) => status)).toEqual(["cancelled", "completed"]);
    expect(console.problems).toEqual([]);
  });
});

/** Returns the lengths that the reply's text has until the reply is complete. */
async function lengthsOf({ page }: TestConsole): Promise<number[]> {
  return (await page.evaluate(`new Promise((resolve) => {
    const lengths = new Set();
    const timer = setInterval(() => {
      lengths.add(document.querySelector("[data-role=assistant]")?.innerText.length ?? 0);
      if (!document.body.innerText.includes("Done")) return;
      clearInterval(timer);
      resolve([...lengths]);
    }, 50);
  })`)) as number[];
}

async function submitJob({ page, open, fill, press }: TestConsole): Promise<void> {
  await open(`/playground?model=${IMAGE}`);
  await fill("Prompt", "A harbour");
  await page.click("label:has([role=switch])");
  await press("button", "Submit the job");
}
