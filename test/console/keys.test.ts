import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";
import { tabTo } from "../support/keyboard.ts";

const MODEL = "sandbox-a";
const HOSTILE = `<img src=x onerror="document.title='broken out'">`;

describe.skipIf(chromium === null)("keys in the console", () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startTestConsole();
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  const callWith = (secret: string) =>
    console.gateway.call("/v1/images/generations", {
      headers: { authorization: `Bearer ${secret}` },
      body: { model: MODEL, prompt: "a lighthouse", size: "1024x1024", quality: "low" },
    });
  const secret = async () => {
    const shown = await console.page.waitForSelector("[data-secret]");
    return String(await shown?.evaluate((element) => element.textContent));
  };

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

    // What is above the budget is refused, and both the caller and the page say so.
    expect((await callWith(made)).status).toBe(200);
    const refused = await callWith(made);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: "BILLING_BLOCKED" } });
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
    await console.fill("Type “=HYPERLINK(1)” to confirm", "=HYPERLINK(1)");
    await console.page.keyboard.press("Enter");
    await console.see("The key was deleted");
    await console.find("heading", "Keys");
    await console.open("/keys?search=HYPERLINK");
    await console.see("No key matches these filters.");
  });
});
