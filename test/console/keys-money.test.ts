import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { until } from "../support/gateway.ts";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { copyRows } from "../support/copied-rows.ts";
import { tabTo } from "../support/keyboard.ts";

const MODEL = "sandbox-a";
/** The price of this model does not change. */
const KEY_MODEL = "sandbox-a-flare";
const HOSTILE = `<img src=x onerror="document.title='broken out'">`;

describe.skipIf(chromium === null)("keys and money in the console", () => {
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

  const callWith = (secret: string) =>
    console.gateway.call("/v1/images/generations", {
      headers: { authorization: `Bearer ${secret}` },
      body: { model: KEY_MODEL, prompt: "a lighthouse", size: "1024x1024", quality: "low" },
    });
  const secret = async () => {
    const shown = await console.page.waitForSelector("[data-secret]");
    return String(await shown?.evaluate((element) => element.textContent));
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
    // The new price differs from 0.01 by a large factor and may be a typing error. So the page asks for confirmation.
    await tabTo(console.page, "Apply");
    await console.page.keyboard.press("Enter");
    await console.see("A price changes by a factor of ten or more");
    await tabTo(console.page, "Yes, this is meant");
    await console.page.keyboard.press("Space");
    await tabTo(console.page, "Apply");
    await console.page.keyboard.press("Enter");
    await console.see("The price was changed");
    await console.see("Organization's price");
    await console.untilClosed();
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
    // The charges were 0.01 and 0.33. The correction makes each of them 0.03.
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
    await console.see("Pictures, 1K low");
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
    await console.untilClosed();
    await console.press("button", "Actions");
    await console.press("menuitem", "Change amount");
    await console.fill("Amount", "20");
    await console.press("button", "Save");
    await console.see("$20.00");
    await console.untilClosed();
    await console.press("button", "Actions");
    await console.press("menuitem", "Remove");
    await console.see("is left of $20.00");
    await console.press("button", "Remove");
    await console.see("There is no budget yet.");
    expect(await console.accessibilityFindings()).toEqual([]);
  });

  test("a key is made by keyboard alone, is shown once, and works at once", async () => {
    const { page } = console;
    await console.open("/keys");
    await tabTo(page, "Create key");
    await page.keyboard.press("Enter");
    await console.find("heading", "Create a key");
    await page.waitForFunction(`document.activeElement?.tagName === "INPUT"`);
    await page.keyboard.type("Web shop");
    await tabTo(page, "Budget");
    await page.keyboard.type("0.02");
    await tabTo(page, "Create key");
    await page.keyboard.press("Enter");
    const made = await secret();
    expect(made).toMatch(/^gk_/);
    expect(await page.evaluate("document.body.innerText")).toContain(`${console.gateway.url}/v1`);
    expect(await console.accessibilityFindings()).toEqual([]);
    await tabTo(page, "I have copied it");
    await page.keyboard.press("Enter");
    await console.find("heading", "Web shop");
    expect(await page.evaluate("document.documentElement.innerHTML")).not.toContain(made);
    expect((await callWith(made)).status).toBe(200);

    // Both the response and the page report that the budget is exhausted.
    const last = await callWith(made);
    expect(last.status).toBe(200);
    const refused = await callWith(made);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: "BILLING_BLOCKED" } });
    await console.gateway.charged(last.headers.get("x-request-id")!);
    await console.open("/money");
    await console.see("Key Web shop");
    await console.see("Used up: requests are refused");
    expect(await console.accessibilityFindings()).toEqual([]);
  });

  test("a rotated key works with both secrets, or with the new one alone", async () => {
    const { key } = console.gateway;
    await console.open("/keys");
    await console.press("link", "First key");
    await console.find("heading", "First key");
    await console.press("button", "Rotate");
    await console.press("button", "Rotate key");
    const second = await secret();
    await console.press("button", "I have copied it");
    expect((await callWith(key)).status).toBe(200);
    expect((await callWith(second)).status).toBe(200);
    await console.press("button", "Disable");
    await console.see("Calls with this key are refused until you enable it again.");
    const dialog = await console.find("alertdialog", "Disable “First key”?");
    await (await dialog.waitForSelector("aria/Disable[role='button']"))!.click();
    await console.see("The key is disabled");
    await until("the key to be refused", async () => (await callWith(second)).status === 401 || undefined);
    await console.press("button", "Enable");
    await console.see("The key is enabled");
    await until("the key to be accepted", async () => (await callWith(second)).status === 200 || undefined);
    expect(await console.accessibilityFindings()).toEqual([]);
  });

  test("a name that tries to break out stays text, and a cell that looks like a formula is quoted", async () => {
    const { page } = console;
    for (const name of [HOSTILE, "=HYPERLINK(1)"]) {
      await console.open("/keys/new");
      await console.fill("Name", name);
      await console.press("button", "Create key");
      await console.press("button", "I have copied it");
      await console.find("heading", name);
    }
    await console.open("/keys");
    await console.see(HOSTILE);
    expect(await page.title()).not.toContain("broken out");
    expect(await page.$("main img")).toBeNull();
    const csv = await page.evaluate(
      `fetch("/admin/v1/export/keys?format=csv").then((response) => response.text())`,
    );
    expect(csv).toContain("'=HYPERLINK(1)");
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });

  test("a key is deleted only after its name is typed", async () => {
    await console.open("/keys?search=HYPERLINK");
    await console.press("link", "=HYPERLINK(1)");
    await console.press("button", "Delete");
    await console.see("Requests in the last 24 hours: 0");
    await console.see("Waiting and running jobs that lose access: 0");
    await console.fill("Type “=HYPERLINK(1)” to confirm", "=HYPERLINK(1)");
    await console.page.keyboard.press("Enter");
    await console.see("The key was deleted");
    await console.find("heading", "Keys");
    await console.open("/keys?search=HYPERLINK");
    await console.see("No key matches these filters.");
  });

  test("the removal of a budget counts all other budgets of the organization, whatever is listed", async () => {
    const member = await console.signIn();
    const { key } = await member.act("POST", "/keys", { organizationId: "default", name: "spender" });
    const budget = { organizationId: "default", amount: "900", period: "total" };
    for (const owner of [{}, { keyId: key.id }])
      await member.act("POST", "/budgets", { ...budget, ...owner });
    const { data } = await member.act("GET", "/budgets?organizationId=default");
    await console.open(`/money?key=${key.id}`);
    await console.press("button", "Actions");
    await console.press("menuitem", "Remove");
    await console.see(`Other budgets that still hold for the organization: ${data.length - 1}`);
  });

  test("the newest row of a price is shown first, beyond a thousand rows too", async () => {
    const member = await console.signIn();
    const database = new Database(`${console.gateway.dataDirectory}/gateway.sqlite`);
    copyRows(database, 1_100, /^prices$/);
    database.close();
    const effectiveFrom = new Date(Date.now() + 24 * 60 * 60_000).toISOString();
    const perImage = { "1K": { low: "0.77" } };
    await member.act("POST", "/prices", { organizationId: "default", model: MODEL, perImage, effectiveFrom });
    await console.open(`/models/prices?model=${MODEL}`);
    await console.page.waitForFunction(
      `document.querySelector("main li:has(dl)")?.innerText.includes("$0.77")`,
    );
    await console.press("button", "Show more");
    await console.page.waitForFunction(`document.querySelectorAll("main li:has(dl)").length === 200`);
  });
});

/** Sets the dialog's first time field, in the browser's time zone. */
async function setFrom({ page }: TestConsole, time: Date): Promise<void> {
  await page.evaluate(`(() => {
    const field = document.querySelector("[role=dialog] input[type=datetime-local]");
    const time = new Date(${time.getTime()});
    const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, local);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
}
