import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { tabTo } from "../support/keyboard.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { fixtureYaml, IMAGE } from "../support/vendor.ts";

/** Long enough that the page looks at the running job. */
const DELAY_MS = 1_500;

describe.skipIf(chromium === null)("the playground's jobs", () => {
  let console: TestConsole;
  let vendor: Simulator;
  beforeAll(async () => {
    vendor = await startOpenAi();
    const env = { VENDOR_KEY: SIMULATED_KEY };
    console = await startTestConsole({ yaml: fixtureYaml(vendor.url, { firstByteMs: 60_000 }), env });
    await console.signIn();
  }, 30_000);
  afterAll(async () => {
    await console[Symbol.asyncDispose]();
    await vendor.close();
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

  test("a running job is followed again after the page was closed, and cancelled by keys", async () => {
    const { page, gateway } = console;
    vendor.next("stall");
    await submitJob(console);
    await console.see("Generating");
    await console.open("/keys");
    await console.open(`/playground?model=${IMAGE}`);
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

async function submitJob({ page, open, fill, press }: TestConsole): Promise<void> {
  await open(`/playground?model=${IMAGE}`);
  await fill("Prompt", "A harbour");
  await page.click("label:has([role=switch])");
  await press("button", "Submit the job");
}
