import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";
import { chord, tabTo } from "../support/keyboard.ts";

const HOSTILE = `<img src=x onerror="window.broken = true"> in 60 words`;

describe.skipIf(chromium === null)("the playground's conversations", () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startTestConsole({ env: { SANDBOX_TOKENS_PER_SECOND: "80" } });
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

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
    await console.see(HOSTILE);
    expect(await page.evaluate("document.querySelector('img[src=x]') ?? window.broken ?? 'text'")).toBe(
      "text",
    );
  });

  test("an answer is stopped by keys, and the conversation goes on with what came", async () => {
    const { page } = console;
    await console.open("/playground/chat?model=sandbox-chat");
    await console.fill("Message", "Tell me about piers in 900 words.");
    await tabTo(page, "Send");
    await page.keyboard.press("Enter");
    await page.waitForFunction(`document.querySelector("[data-role=assistant]")?.innerText.length > 40`);
    // The button that sent has kept the focus and stops now.
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
});

/** The lengths that a growing answer has had, until it is done. */
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
