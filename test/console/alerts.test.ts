import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";

describe.skipIf(chromium === null)("alerts in the console", () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startTestConsole();
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  test("an alert is added, changed and deleted", async () => {
    const isClosed = () => console.page.waitForFunction(`!document.querySelector("[role=dialog]")`);
    await console.open("/settings/alerts");
    await console.see("There is no alert yet.");
    await console.press("button", "Add alert");
    await console.fill("Name", "Budgets");
    await console.fill("Mail addresses", "nobody");
    await console.press("button", "Save");
    await console.see("Must be an e-mail address");
    await console.fill("Mail addresses", "ops@example.org");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Save");
    await console.see("The alert was added");
    await isClosed();
    await console.see("80%, 100% of a budget is spent");
    await console.press("button", "Acts on Budgets");
    await console.press("menuitem", "Edit");
    await console.press("radio", "Requests fail");
    await console.press("button", "Save");
    await console.see("5% of the requests of 10 minutes fail");
    await isClosed();
    await console.press("button", "Acts on Budgets");
    await console.press("menuitem", "Disable");
    await console.see("Disabled");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Acts on Budgets");
    await console.press("menuitem", "Delete");
    await console.press("button", "Delete");
    await console.see("There is no alert yet.");
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });
});
