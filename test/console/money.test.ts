import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { tabTo } from "../support/keyboard.ts";

const MODEL = "sandbox-a";

describe.skipIf(chromium === null)("money in the console", () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startTestConsole();
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  const charge = async () => {
    const response = await console.gateway.call("/v1/images/generations", {
      body: { model: MODEL, prompt: "a lighthouse", size: "1024x1024", quality: "low" },
    });
    expect(response.status).toBe(200);
    const [entry] = await console.gateway.charged(response.headers.get("x-request-id")!);
    return entry!;
  };

  test("a changed price is shown before it applies, and the next request pays it", async () => {
    expect((await charge()).amount).toBe(10_000_000n);
    await console.open(`/models/prices`);
    await console.press("link", MODEL);
    await console.find("heading", MODEL);
    await console.see("Catalogue");
    expect(await console.accessibilityFindings()).toEqual([]);
    await tabTo(console.page, "Change price");
    await console.page.keyboard.press("Enter");
    await console.find("dialog", `Change the price of ${MODEL}`);
    await tabTo(console.page, "low");
    await console.page.keyboard.type("0.33");
    await console.see("$0.33");
    expect(await console.accessibilityFindings()).toEqual([]);
    await tabTo(console.page, "Apply");
    await console.page.keyboard.press("Enter");
    await console.see("The price was changed");
    await console.see("Organization's row");
    await console.page.waitForFunction(`!document.querySelector("[role=dialog]")`);
    await until("the price to hold", async () => {
      const found = await console.gateway.call(`/v1/pricing/lookup?model=${MODEL}&quality=low`);
      return ((await found.json()) as { unit_price: string }).unit_price === "0.33" ? true : undefined;
    });
    expect((await charge()).amount).toBe(330_000_000n);
  });

  test("past charges are corrected by the right price, after a look at what that comes to", async () => {
    await console.open(`/models/prices?model=${MODEL}`);
    await console.press("button", "Correct past charges");
    await setFrom(console, new Date(Date.now() - 3_600_000));
    await console.fill("Reason", "A typing mistake");
    await console.fill("low", "0.03");
    // One charge of 0.01 and one of 0.33, each 0.03 now.
    await console.see("-$0.28");
    await console.press("button", "Apply correction");
    await console.see("Corrected 2 charges");
    const entries = await console.gateway.ledger();
    expect(entries.map(({ kind }) => kind).toSorted()).toEqual(["adjustment", "charge", "charge", "refund"]);
  });

  test("an entry of the ledger is shown line by line and refunded with a reason", async () => {
    const entry = await charge();
    await console.open(`/money/ledger?request=${entry.request_id}`);
    await console.see(MODEL);
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.open(`/money/ledger?entry=${entry.id}`);
    await console.see("1K:low");
    await console.press("button", "Refund");
    await console.fill("Reason", "Not what was wanted");
    const dialog = await console.find("dialog", "Refund this charge");
    await (await dialog.waitForSelector("aria/Refund[role='button']"))!.click();
    await console.see("Refunded $0.33");
    await console.see("Charge with corrections");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.open("/money/ledger");
    await console.press("button", "Verify");
    await console.see("Everything agrees");
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });

  test("a budget is set by keyboard alone, changed and removed", async () => {
    await console.open("/money");
    await console.see("There is no budget yet.");
    await tabTo(console.page, "Set a budget");
    await console.page.keyboard.press("Enter");
    await console.find("dialog", "Set a budget");
    await tabTo(console.page, "Amount*");
    await console.page.keyboard.type("12,50");
    await console.page.keyboard.press("Enter");
    await console.see("The budget was set");
    await console.see("$12.50");
    await console.page.waitForFunction(`!document.querySelector("[role=dialog]")`);
    await console.press("button", "Actions");
    await console.press("menuitem", "Change amount");
    await console.fill("Amount", "20");
    await console.press("button", "Save");
    await console.see("$20.00");
    await console.page.waitForFunction(`!document.querySelector("[role=dialog]")`);
    await console.press("button", "Actions");
    await console.press("menuitem", "Remove");
    await console.see("is left of $20.00");
    await console.press("button", "Remove");
    await console.see("There is no budget yet.");
    expect(await console.accessibilityFindings()).toEqual([]);
  });
});

/** Sets the first field of a time, in the browser's own zone. */
async function setFrom({ page }: TestConsole, time: Date): Promise<void> {
  await page.evaluate(`(() => {
    const field = document.querySelector("[role=dialog] input[type=datetime-local]");
    const time = new Date(${time.getTime()});
    const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, local);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
}
